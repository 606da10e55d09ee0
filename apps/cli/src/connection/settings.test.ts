import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { readConfig, readValidConfig, removeKey, storeKey, writeContexts } from "./contexts.ts";
import { defaultDataDir, findConnection } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-settings-"));
const keyFile = join(folder, "admin-key.json");
writeFileSync(keyFile, JSON.stringify({ base_url: "http://127.0.0.1:7801", api_key: "stored" }));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const stored = { SHOAL_DATA_DIR: folder, SHOAL_CONFIG_DIR: join(folder, "config") };

it("uses the admin key of the service on this machine for that service", () => {
  const found = { baseUrl: "http://127.0.0.1:7801", apiKey: "stored", keySource: keyFile };
  expect(findConnection({}, stored)).toEqual(found);
  expect(findConnection({ baseUrl: "http://localhost:7801/" }, stored)).toMatchObject({ apiKey: "stored" });
});

it.each([
  "http://127.0.0.1:7802",
  "https://127.0.0.1:7801",
  "http://127.0.0.1:7801@evil.example",
  "http://127.0.0.1:7801.evil.example",
  "http://localhost.evil.example:7801",
  "http://evil.example/http://127.0.0.1:7801",
  "http://[::1]:7801",
])("does not send the stored key to %s", (baseUrl) => {
  for (const found of [
    findConnection({ baseUrl }, stored),
    findConnection({}, { ...stored, SHOAL_BASE_URL: baseUrl }),
  ]) {
    expect(found).not.toHaveProperty("apiKey");
    expect(JSON.stringify(found)).not.toContain('"stored"');
  }
});

it("sends the stored key to no other server", () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, validSchemes: ["http", "https"] }), (baseUrl) => {
      expect(findConnection({ baseUrl }, stored)).not.toHaveProperty("apiKey");
    }),
  );
});

describe("a context", () => {
  const config = mkdtempSync(join(tmpdir(), "shoal-contexts-"));
  const env = { SHOAL_DATA_DIR: join(folder, "none"), SHOAL_CONFIG_DIR: config, SHOAL_KEYCHAIN: "0" };
  const work = { base_url: "https://shoal.example.com", key: "file" } as const;
  writeContexts(env, {
    current: "work",
    contexts: { work: { ...work, project: "p" }, spare: { base_url: "http://127.0.0.1:7802", key: "file" } },
  });
  for (const name of ["work", "spare"]) storeKey(name, `sk_${name}`, env);
  afterAll(() => {
    rmSync(config, { recursive: true });
  });

  it("is used by default or by name, with its own project", () => {
    expect(findConnection({}, env)).toEqual({
      baseUrl: work.base_url,
      apiKey: "sk_work",
      keySource: join(config, "keys.json"),
      context: "work",
      project: "p",
    });
    expect(findConnection({ context: "spare" }, env)).toMatchObject({
      baseUrl: "http://127.0.0.1:7802",
      apiKey: "sk_spare",
    });
    expect(findConnection({ project: "q" }, { ...env, SHOAL_CONTEXT: "work" })).toMatchObject({
      apiKey: "sk_work",
      project: "q",
    });
    expect(findConnection({}, { ...env, SHOAL_API_KEY: "sk_env" })).toEqual({
      baseUrl: "http://127.0.0.1:7777",
      apiKey: "sk_env",
      keySource: "SHOAL_API_KEY",
    });
    expect(findConnection({ context: "work" }, { ...env, SHOAL_API_KEY: "sk_env" })).toMatchObject({
      apiKey: "sk_work",
    });
    expect(findConnection({ context: "none" }, env)).toMatchObject({ problem: "context" });
  });

  it("sends its key to no other server", () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true, validSchemes: ["http", "https"] }),
        fc.constantFrom("work", "spare", undefined),
        (baseUrl, context) => {
          expect(findConnection({ baseUrl, ...(context !== undefined && { context }) }, env)).not.toHaveProperty(
            "apiKey",
          );
        },
      ),
    );
  });

  it("reports a missing key", () => {
    removeKey("spare", "file", env);
    expect(findConnection({ context: "spare" }, env)).toMatchObject({
      problem: "key",
      hint: "Log in again with: shoal login --context spare",
    });
  });
});

describe("an invalid file of settings", () => {
  const config = mkdtempSync(join(tmpdir(), "shoal-contexts-"));
  const env = { ...stored, SHOAL_CONFIG_DIR: config, SHOAL_KEYCHAIN: "0" };
  afterAll(() => {
    rmSync(config, { recursive: true });
  });

  it.each(['{\n"plugins": ["./p.mjs"],\n}\n', "[1]", '"text"'])("is reported and kept: %j", (text) => {
    const path = join(config, "config.json");
    writeFileSync(path, text);
    const reported = `Cannot read ${path}: ${text.startsWith("{") ? "invalid JSON in line 3" : "it is not a JSON object"}.`;
    expect(() => readConfig(env)).toThrow(reported);
    expect(() => {
      writeContexts(env, { current: "a", contexts: {} });
    }).toThrow(reported);
    expect(readFileSync(path, "utf8")).toBe(text);
    // Without its contexts, a command could reach another service.
    expect(findConnection({}, env)).toMatchObject({ problem: "context", message: reported });
    expect(findConnection({ baseUrl: "http://127.0.0.1:7801" }, env)).toMatchObject({ apiKey: "stored" });
    expect(readValidConfig(env)).toEqual({});
  });

  it("keeps its keys, and shows none of them", () => {
    const path = join(config, "keys.json");
    writeFileSync(path, '{"work": "sk_secret", sk_other}');
    const error = (() => {
      try {
        return storeKey("spare", "sk_new", env);
      } catch (reason) {
        return reason;
      }
    })();
    expect(String(error)).toContain(`Cannot read ${path}: invalid JSON in line 1.`);
    expect(String(error)).not.toContain("sk_");
    expect(() => {
      removeKey("work", "file", env);
    }).toThrow(path);
    expect(readFileSync(path, "utf8")).toBe('{"work": "sk_secret", sk_other}');
  });

  it("is reported if it cannot be read", () => {
    const path = join(config, "config.json");
    rmSync(path, { force: true });
    mkdirSync(path);
    expect(() => readConfig(env)).toThrow(`Cannot read ${path}: EISDIR.`);
    rmSync(path, { recursive: true });
    writeFileSync(path, " ");
    expect(readConfig(env)).toEqual({});
  });
});

it("prefers flags to variables and ignores empty variables", () => {
  const env = { ...stored, SHOAL_API_KEY: "given", SHOAL_BASE_URL: "http://b:1", SHOAL_PROJECT: "p" };
  expect(findConnection({}, env)).toEqual({
    baseUrl: "http://b:1",
    apiKey: "given",
    keySource: "SHOAL_API_KEY",
    project: "p",
  });
  expect(findConnection({ baseUrl: "http://a:1", project: "q" }, env)).toMatchObject({
    baseUrl: "http://a:1",
    project: "q",
  });
  expect(findConnection({}, { ...stored, SHOAL_API_KEY: "", SHOAL_BASE_URL: "", SHOAL_PROJECT: "" })).toEqual({
    baseUrl: "http://127.0.0.1:7801",
    apiKey: "stored",
    keySource: keyFile,
  });
});

it("explains how to set a missing key or URL", () => {
  expect(findConnection({}, { ...stored, SHOAL_DATA_DIR: join(folder, "none") })).toMatchObject({
    problem: "key",
    hint: expect.stringContaining("SHOAL_API_KEY") as unknown,
  });
  expect(findConnection({ baseUrl: "nope" }, stored)).toMatchObject({
    problem: "address",
    message: expect.stringContaining('"nope"') as unknown,
    hint: expect.stringContaining("--base-url") as unknown,
  });
  expect(findConnection({}, { ...stored, SHOAL_BASE_URL: "ftp://a" })).toMatchObject({
    problem: "address",
    hint: expect.stringContaining("SHOAL_BASE_URL") as unknown,
  });
});

it("ignores a damaged key file", () => {
  const damaged = mkdtempSync(join(tmpdir(), "shoal-settings-"));
  try {
    for (const content of ["", "{", "[]", "null", '{"base_url": 1, "api_key": "x"}']) {
      writeFileSync(join(damaged, "admin-key.json"), content);
      expect(findConnection({}, { ...stored, SHOAL_DATA_DIR: damaged }), content).toMatchObject({ problem: "key" });
    }
  } finally {
    rmSync(damaged, { recursive: true });
  }
});

it("finds the data folder of the service on each platform", () => {
  expect(defaultDataDir({ XDG_DATA_HOME: "/x" }, "linux")).toBe(join("/x", "shoal"));
  expect(defaultDataDir({ LOCALAPPDATA: "C:\\Local" }, "win32")).toBe(join("C:\\Local", "shoal"));
  expect(defaultDataDir({}, "darwin")).toMatch(/Library.Application Support.shoal$/);
});
