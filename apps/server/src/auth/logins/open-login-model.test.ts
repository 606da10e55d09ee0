import type { PageOutline } from "@shoal/instance";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { StartError } from "../../config/start-error.ts";
import { openLoginModel } from "./open-login-model.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-model-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let lines = "";
const log = pino({}, { write: (line: string) => (lines += line) });
let modules = 0;
function moduleWith(body: string): string {
  const path = join(folder, `model-${String(++modules)}.mjs`);
  writeFileSync(path, body);
  return path;
}

const outline: PageOutline = { frames: [], nodes: [], left_out: 3, viewport: { width: 1, height: 1 } };

it("loads the model of a module, and passes copies to it", async () => {
  const path = moduleWith(`export const createLoginModel = async () => ({
    nameNodes(outline) { const found = { e1: String(outline.left_out) }; outline.left_out = 9; return Promise.resolve(found); },
  })`);
  const model = await openLoginModel(path, log);
  expect(await model?.nameNodes(outline)).toEqual({ e1: "3" });
  expect(outline.left_out).toBe(3);
  expect(await openLoginModel(undefined, log)).toBeUndefined();
});

it.each([
  ["throws", "nameNodes() { throw new Error('no quota'); }"],
  ["names no text", "nameNodes: async () => ({ e1: 7 })"],
  ["names too long texts", "nameNodes: async () => ({ e1: 'x'.repeat(65) })"],
  ["names nothing", "nameNodes: async () => undefined"],
])("continues without a model that %s", async (_title, method) => {
  lines = "";
  const model = await openLoginModel(moduleWith(`export const createLoginModel = () => ({ ${method} })`), log);
  expect(await model?.nameNodes(outline)).toEqual({});
  expect(lines).toContain("the login model gave no valid answer");
});

it.each([
  ["fails", "throw new Error('broken');", "failed: broken"],
  ["exports nothing", "", "exports no login model"],
  ["exports no method", "export const createLoginModel = () => ({})", "exports no login model"],
])("does not start with a module that %s", async (_title, body, words) => {
  const opened = openLoginModel(moduleWith(body), log);
  await expect(opened).rejects.toThrow(words);
  await expect(opened).rejects.toBeInstanceOf(StartError);
});
