import { nearMatch } from "@shoal/router";
import fc from "fast-check";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { StartError } from "./start-error.ts";
import { loadConfig, type ConfigSources } from "./config.ts";
import { settings } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-config-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const load = (sources: ConfigSources) => loadConfig({ env: {}, cwd: folder, ...sources });

function failure(sources: ConfigSources): StartError {
  try {
    load(sources);
  } catch (error) {
    if (StartError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("no error");
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("sources", () => {
  it("has defaults for a laptop", () => {
    expect(load({})).toMatchObject({
      host: "127.0.0.1",
      port: 7777,
      placement: "auto",
      warm: "auto",
      idle_timeout_seconds: 60,
      max_sessions_per_project: 50,
      log_level: "info",
    });
  });

  it("prefers flags over environment over file over defaults", () => {
    const config = file("order.yaml", "port: 1\nwarm: 2\nhost: 127.0.0.2\n");
    expect(load({ flags: { config, port: "3" }, env: { SHOAL_PORT: "4", SHOAL_WARM: "5" } })).toMatchObject({
      port: 3,
      warm: 5,
      host: "127.0.0.2",
      placement: "auto",
    });
  });

  it("finds shoal.config.yaml in the working folder, and reads JSON too", () => {
    const path = file("shoal.config.yaml", "port: 4321\n");
    expect(load({}).port).toBe(4321);
    rmSync(path);
    expect(
      load({ env: { SHOAL_CONFIG: file("other.json", '{"port": 4322, "allow_private_hosts": ["10.0.0.0/8"]}') } }),
    ).toMatchObject({
      port: 4322,
      allow_private_hosts: ["10.0.0.0/8"],
    });
  });

  it("accepts a flag in any of the usual spellings", () => {
    for (const name of ["data_dir", "data-dir", "dataDir", "--data-dir"])
      expect(load({ flags: { [name]: "x" } }).data_dir).toBe(join(folder, "x"));
  });

  it("parses text into numbers, switches, lists and absolute paths", () => {
    expect(
      load({
        env: {
          SHOAL_UNSAFE_NO_ISOLATION: "yes",
          SHOAL_ALLOW_PRIVATE_HOSTS: "localhost:3000, 10.0.0.0/8",
          SHOAL_READY_FILE: "r.json",
          SHOAL_WARM: "0",
        },
      }),
    ).toMatchObject({
      unsafe_no_isolation: true,
      allow_private_hosts: ["localhost:3000", "10.0.0.0/8"],
      ready_file: join(folder, "r.json"),
      warm: 0,
    });
  });

  it("resolves paths of a file from the file's folder", () => {
    expect(load({ flags: { config: file("paths.yaml", "data_dir: data\n") }, cwd: tmpdir() }).data_dir).toBe(
      join(folder, "data"),
    );
  });

  it("reads DATABASE_URL, which SHOAL_DATABASE_URL overrides", () => {
    expect(load({ env: { DATABASE_URL: "postgres://a/b" } }).database_url).toBe("postgres://a/b");
    expect(load({ env: { DATABASE_URL: "postgres://a/b", SHOAL_DATABASE_URL: "postgres://c/d" } }).database_url).toBe(
      "postgres://c/d",
    );
  });

  it("ignores an empty variable", () => {
    expect(load({ env: { SHOAL_PORT: "", SHOAL_CONFIG: "" } }).port).toBe(7777);
  });

  it("stores data in the system's folder for application data", () => {
    if (process.platform !== "linux") return;
    expect(load({ env: { XDG_DATA_HOME: "/data" } }).data_dir).toBe("/data/shoal");
    // As the command line looks for the admin key.
    expect(load({ env: { XDG_DATA_HOME: "", HOME: "/home/ada" } }).data_dir).toBe("/home/ada/.local/share/shoal");
  });
});

describe("mistakes", () => {
  it.each<[string, ConfigSources, string]>([
    ["an invalid port", { flags: { port: "abc" } }, '--port is "abc", but must be a whole number'],
    ["a port that is too large", { env: { SHOAL_PORT: "70000" } }, 'SHOAL_PORT is "70000", but must be at most 65535'],
    [
      "a placement that does not exist",
      { flags: { placement: "cloud" } },
      '--placement is "cloud", but must be one of auto, sandbox, docker, kubernetes, process',
    ],
    [
      "a switch that is neither on nor off",
      { env: { SHOAL_UNSAFE_NO_ISOLATION: "maybe" } },
      'SHOAL_UNSAFE_NO_ISOLATION is "maybe", but must be true or false',
    ],
    ["an unknown flag", { flags: { prot: "1" } }, "--prot is not a setting. Did you mean --port?"],
    ["an unknown flag without a similar setting", { flags: { frobnicate: "1" } }, "--frobnicate is not a setting."],
    [
      "a variable that is nearly a setting",
      { env: { SHOAL_DATADIR: "x" } },
      "SHOAL_DATADIR is not a setting. Did you mean SHOAL_DATA_DIR?",
    ],
    [
      "an address of another database",
      { env: { DATABASE_URL: "mysql://root:hunter2@db/x" } },
      "DATABASE_URL is mysql://***@db/x, but must be a postgres:// address",
    ],
    [
      "a secret that is too short",
      { env: { SHOAL_SECRET_KEY: "hunter2" } },
      "SHOAL_SECRET_KEY is ***, but must have at least 32 characters",
    ],
    [
      "an invalid public address",
      { flags: { public_url: "shoal.example" } },
      '--public-url is "shoal.example", but must be an http:// or https:// address',
    ],
    ["a missing file", { flags: { config: "nowhere.yaml" } }, "nowhere.yaml cannot be read"],
  ])("names %s", (_what, sources, message) => {
    const error = failure(sources);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("hunter2");
    expect(error.exitCode).toBe(2);
    expect(error.hint).not.toBe("");
  });

  it("reports all mistakes at once, those of the file with its path", () => {
    const config = file("wrong.yaml", "prot: 1\nwarm: many\nnew_admin_key: true\n");
    const { message } = failure({ flags: { config, host: "" } });
    expect(message).toContain(`prot in ${config} is not a setting. Did you mean port?`);
    expect(message).toContain(`warm in ${config} is "many", but must be auto, or a whole number from 0 to 100.`);
    expect(message).toContain(`new_admin_key in ${config} can be given on the command line only, as --new-admin-key.`);
    expect(message).toContain('--host is "", but must not be empty.');
  });

  it.each(["- a\n- b\n", "port: [", '"text"'])("explains a file without settings: %j", (content) => {
    const error = failure({ flags: { config: file("broken.yaml", content) } });
    expect(error.message).toContain("broken.yaml");
    expect(error.hint).toContain("port: 8080");
  });

  it("refuses a path with ~, which would become a folder of this name", () => {
    const config = file("home.yaml", "data_dir: ~/shoal\naccess_log: /var/log/~shoal.log\n");
    expect(failure({ flags: { config }, env: { SHOAL_CHROMIUM: "~" } }).message).toBe(
      `Invalid configuration: data_dir in ${config} is "~/shoal", but only shells replace ~; write the whole path. SHOAL_CHROMIUM is "~", but only shells replace ~; write the whole path.`,
    );
  });

  it("ignores variables of Shoal's other programs", () => {
    expect(
      load({
        env: { SHOAL_API_KEY: "k", SHOAL_BASE_URL: "b", SHOAL_PROJECT: "p", SHOAL_REQUIRE_ALL: "1", SHOAL_TOOLS: "t" },
      }).port,
    ).toBe(7777);
  });
});

it("suggests the setting for a misspelled name", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(settings)),
      fc.nat(),
      fc.constantFrom("drop", "double", "swap"),
      (name, at, slip) => {
        const index = at % (name.length - 1);
        const before = name.slice(0, index);
        const wrong =
          slip === "drop"
            ? before + name.slice(index + 1)
            : slip === "double"
              ? before + name.charAt(index) + name.slice(index)
              : before + name.charAt(index + 1) + name.charAt(index) + name.slice(index + 2);
        if (!Object.hasOwn(settings, wrong)) expect(nearMatch(wrong, Object.keys(settings))).toBe(name);
      },
    ),
  );
});

it("takes the caller's defaults for settings without another source", () => {
  const defaults = { log_level: "warn" };
  expect(loadConfig({ env: {}, cwd: folder, defaults }).log_level).toBe("warn");
  expect(loadConfig({ env: { SHOAL_LOG_LEVEL: "info" }, cwd: folder, defaults }).log_level).toBe("info");
  expect(loadConfig({ env: {}, flags: { "log-level": "info" }, cwd: folder, defaults }).log_level).toBe("info");
});
