// The JSON-RPC library without its own readers and writers for pipes and sockets: the daemon has a transport of its own, and those load
// half of node's network code at each start. Bundled in place of `vscode-jsonrpc/node`.
'use strict';
require('../../node_modules/vscode-jsonrpc/lib/node/ril.js').default.install();
module.exports = require('../../node_modules/vscode-jsonrpc/lib/common/api.js');
