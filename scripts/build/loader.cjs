#!/usr/bin/env node
// The file a shell runs: loads the bundle beside it with V8's compiled code from build time, which halves the cold start.
// A cache of another node version, or none at all, only costs time. Part of dist, not of the sources.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const lib = path.join(__dirname, 'lib');
/** Parts that were started, by file name. */
const loaded = new Map();
/** Compiled scripts by file name: read by the build's warm-up, by nobody else. */
const scripts = new Map();

function readCache(file) {
  try {
    return fs.readFileSync(`${file}.cache`);
  } catch {
    return undefined;
  }
}

function load(name) {
  const known = loaded.get(name);
  if (known) return known.exports;
  const filename = path.join(lib, name);
  // The build writes ASCII only, and a one-byte string needs no decoding. V8 keeps the script's name in the cache, so it must not
  // hold the folder of the build.
  const script = new vm.Script(fs.readFileSync(filename, 'latin1'), { filename: `harnessd/${name}`, cachedData: readCache(filename) });
  scripts.set(name, script);
  const module = { exports: {}, filename, id: filename, loaded: false };
  loaded.set(name, module);
  script.runInThisContext().call(module.exports, module.exports, load.require, module, filename, lib);
  module.loaded = true;
  return module.exports;
}

load.require = (id) => (id.startsWith('./') ? load(id.slice(2)) : require(id));
load.require.resolve = require.resolve;

if (process.env.HARNESSD_SOURCE_MAPS === '1') require('./source-maps.js').install(lib);
module.exports = { scripts, lib };
load('main.cjs');
