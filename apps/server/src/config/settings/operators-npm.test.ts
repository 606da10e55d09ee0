import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadConfig } from "../config.ts";
import { operatorsNpm } from "./operators-npm.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-npm-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function file(path: string, text: string): string {
  const at = join(folder, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, text);
  return at;
}

const values = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    Object.entries(operatorsNpm({ HOME: folder, ...env }, join(folder, "bin/node"))).map(([name, { value }]) => [
      name,
      value,
    ]),
  );

it("reads the variables of npm before the file of the user, and that before the global one", () => {
  const [own, global] = [file("own.pem", ""), file("global.pem", "")];
  file("etc/npmrc", `cafile=${global}\nregistry=https://global.example/\n`);
  expect(values({})).toEqual({ build_registry: "https://global.example/", build_registry_ca: global });
  file(".npmrc", `; own\nregistry = "https://own.example/npm/"\ncafile=\${HOME}/own.pem\n`);
  expect(values({})).toEqual({ build_registry: "https://own.example/npm/", build_registry_ca: own });
  expect(values({ npm_config_registry: "http://127.0.0.1:4873/", npm_config_cafile: global })).toEqual({
    build_registry: "http://127.0.0.1:4873/",
    build_registry_ca: global,
  });
});

it("reads no credentials, and ignores invalid addresses and missing files", () => {
  file(".npmrc", "registry=https://ada:secret@own.example/\n//own.example/:_authToken=secret\ncafile=/missing.pem\n");
  expect(values({})).toEqual({ build_registry: "https://own.example/" });
  expect(values({ npm_config_registry: "file:///etc/passwd" })).toEqual({ build_registry: "https://own.example/" });
  expect(operatorsNpm({})).toEqual({});
});

it("applies after every other source of the setting", () => {
  const authorities = file("own.pem", "");
  file(".npmrc", `registry=https://own.example/\ncafile=${authorities}\n`);
  const env = { HOME: folder, npm_config_globalconfig: join(folder, "missing") };
  expect(loadConfig({ env, cwd: folder })).toMatchObject({
    build_registry: "https://own.example/",
    build_registry_ca: authorities,
  });
  const other = { SHOAL_BUILD_REGISTRY: "https://other.example/", NODE_EXTRA_CA_CERTS: "/other.pem" };
  expect(loadConfig({ env: { ...env, ...other }, cwd: folder })).toMatchObject({
    build_registry: "https://other.example/",
    build_registry_ca: "/other.pem",
  });
});
