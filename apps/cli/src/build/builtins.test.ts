import { expect, it } from "vitest";
import { builtinsWithoutFacade } from "./builtins.ts";

it.each([
  [
    'import{readFileSync as a,writeSync}from"node:fs";a();',
    'const {readFileSync:a,writeSync}=globalThis.process.getBuiltinModule("node:fs");a();',
  ],
  [
    'import x from"node:child_process";',
    'const x=new Proxy({},{get:(_,name)=>globalThis.process.getBuiltinModule("node:child_process")[name]});',
  ],
  ['import x from"node:process";', 'const x=globalThis.process.getBuiltinModule("node:process");'],
  [
    'import x,{join}from"path";',
    'const x=globalThis.process.getBuiltinModule("node:path"),{join}=globalThis.process.getBuiltinModule("node:path");',
  ],
  ['import*as fs from"node:fs/promises";', 'const fs=globalThis.process.getBuiltinModule("node:fs/promises");'],
  ['import { join } from "node:path";\n', 'const { join }=globalThis.process.getBuiltinModule("node:path");\n'],
  ['import{a}from"./chunk.js";', 'import{a}from"./chunk.js";'],
  ['import a from"@shoal/server";', 'import a from"@shoal/server";'],
  ['import"./chunk.js";const s=\'import{a}from"node:fs"\'', 'import"./chunk.js";const s=\'import{a}from"node:fs"\''],
])("turns %s into %s", (code, expected) => {
  expect(builtinsWithoutFacade(code)).toBe(expected);
});
