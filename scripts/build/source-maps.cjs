// Loaded only under HARNESSD_SOURCE_MAPS=1: shows stack frames in the sources instead of the bundle.
// node's own support does not see scripts made by vm.Script, so the frames are looked up here.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { SourceMap } = require('node:module');

exports.install = (lib) => {
  const maps = new Map();
  const mapOf = (script) => {
    if (!maps.has(script))
      maps.set(script, new SourceMap(JSON.parse(fs.readFileSync(path.join(lib, `${path.basename(script)}.map`), 'utf8'))));
    return maps.get(script);
  };
  const show = (frame) => {
    const file = frame.getFileName();
    const map = file?.startsWith('harnessd/') ? mapOf(file) : undefined;
    const entry = map?.findEntry(frame.getLineNumber() - 1, frame.getColumnNumber() - 1);
    if (!entry?.originalSource) return String(frame);
    return `${frame.getFunctionName() ?? '<anonymous>'} (${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1})`;
  };
  Error.prepareStackTrace = (error, frames) => [String(error), ...frames.map((frame) => `    at ${show(frame)}`)].join('\n');
};
