import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { BuildError, type BuildSource } from "./app-runtime.ts";
import { openRegistry } from "./testing/registry.ts";
import { startRemoteEngine } from "./testing/remote-engine.ts";
import { openRuntime, runnable, sourceOf, type TestRuntime, type TestRuntimeOptions } from "./testing/runtime.ts";

const signal = new AbortController().signal;

async function outputOf({ runtime, on }: TestRuntime, source: BuildSource): Promise<unknown> {
  const built = await runtime.build(source, on, signal);
  const program = await runtime.start(runnable(source, built), on, signal);
  const [app] = built.apps;
  const result = await program.invoke({
    invocation_id: "i1",
    app_name: app?.name ?? "",
    action_name: app?.actions[0]?.name ?? "",
    payload: '{"name":"Ada"}',
  });
  await program.ended;
  expect(result.status, result.status_reason).toBe("succeeded");
  return JSON.parse(result.output ?? "");
}

const printed = ({ lines }: TestRuntime): string => lines.map(({ text }) => text).join("\n");

const main = `
import ms from "ms";
const actions = new Map([["wait", { handler: () => ms("2 days") }]]);
globalThis[Symbol.for("shoal.apps.v1")] = new Map([["waiter", { name: "waiter", actions }]]);
`;
const integrity = "sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA==";
const manifest = { type: "module", dependencies: { ms: "2.1.3" } };
const older = { ...manifest, packageManager: "pnpm@9.15.9" };
const npmLock = {
  lockfileVersion: 3,
  packages: { "": { dependencies: manifest.dependencies }, "node_modules/ms": { version: "2.1.3", integrity } },
};
const pnpmLock = `lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      ms: { specifier: 2.1.3, version: 2.1.3 }
packages:
  ms@2.1.3:
    resolution: { integrity: ${integrity} }
snapshots:
  ms@2.1.3: {}
`;

const sandbox = (): TestRuntimeOptions => ({ kind: "sandbox" });
const remote = async (): Promise<TestRuntimeOptions> => ({ kind: "docker", docker: await startRemoteEngine() });

it.each([
  { place: "in a sandbox", options: sandbox, lock: "package-lock.json", json: manifest, text: JSON.stringify(npmLock) },
  { place: "in a sandbox", options: sandbox, lock: "pnpm-lock.yaml", json: manifest, text: pnpmLock },
  { place: "in a sandbox", options: sandbox, lock: "pnpm-lock.yaml", json: older, text: pnpmLock },
  { place: "on another machine", options: remote, lock: "pnpm-lock.yaml", json: manifest, text: pnpmLock },
])("installs $place from $lock with $json through a private registry, and the second time without it", async (row) => {
  const { json, lock, options, text } = row;
  const registry = await openRegistry("secret");
  const opened = await openRuntime({
    ...(await options()),
    registry: { url: registry.url, token: "secret", pythonIndex: "https://pypi.org/simple", allowedHosts: [] },
  });
  const files = { "package.json": JSON.stringify(json), [lock]: text, "main.mts": main };
  expect(await outputOf(opened, await sourceOf(files, "main.mts"))).toBe(172_800_000);
  expect(registry.requests.length).toBeGreaterThan(0);
  expect(printed(opened)).not.toContain("secret");

  registry.isDown = true;
  expect(await outputOf(opened, await sourceOf(files, "main.mts"))).toBe(172_800_000);
  const other = await sourceOf({ ...files, "package.json": JSON.stringify({ ...json, name: "other" }) }, "main.mts");
  const error: unknown = await opened.runtime.build(other, opened.on, signal).catch((reason: unknown) => reason);
  expect(BuildError.isInstance(error) && error.message).toMatch(/failed with exit code 1[^]*--build-registry URL/);
});

it("names the settings for a registry with a certificate of an unknown authority", async () => {
  const folder = join(import.meta.dirname, "../../../../../tools/certificates");
  const [cert, key] = ["localhost.pem", "localhost.key"].map((name) => readFileSync(join(folder, name)));
  const server = createServer({ cert, key }, (_request, response) => response.end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `https://localhost:${String((server.address() as AddressInfo).port)}`;
  const registry = { url, pythonIndex: url, allowedHosts: [] };
  const opened = await openRuntime({ ...sandbox(), registry });
  const files = { "package.json": JSON.stringify(older), "pnpm-lock.yaml": pnpmLock, "main.mts": main };
  for (const source of [
    await sourceOf(files, "main.mts"),
    await sourceOf({ "requirements.txt": "kernel\n", "main.py": "" }, "main.py"),
  ]) {
    const error: unknown = await opened.runtime.build(source, opened.on, signal).catch((reason: unknown) => reason);
    expect(BuildError.isInstance(error) && error.message).toMatch(/certificate[^]*--build-registry-ca FILE[^]*cafile/);
  }
});

it("never runs install scripts or code of the package manager's settings, and reaches no other host", async () => {
  const opened = await openRuntime();
  const source = await sourceOf(
    {
      "package.json": JSON.stringify({
        type: "module",
        scripts: { preinstall: "echo RAN-SCRIPT", postinstall: "echo RAN-SCRIPT" },
        dependencies: { ms: "2.1.3", other: "https://example.com/other.tgz" },
      }),
      "main.mts": main,
    },
    "main.mts",
  );
  const error: unknown = await opened.runtime.build(source, opened.on, signal).catch((reason: unknown) => reason);
  expect(BuildError.isInstance(error) && error.message).toContain("403");
  expect(printed(opened)).not.toContain("RAN-SCRIPT");
});

it.each([
  [
    "a file of its home folder",
    { "main.mts": 'import x from "/home/shoal/.npmrc" with { type: "text" }; console.log(x);' },
    manifest,
  ],
  ["a file of the system as text", { "main.mts": 'import x from "/etc/passwd.txt"; console.log(x);' }, manifest],
  [
    "the program of a setting",
    { "main.mts": main, ".npmrc": "git=./evil.sh\n", "evil.sh": "#!/bin/sh\necho RAN-CODE; env; cat ~/.npmrc\n" },
    { ...manifest, dependencies: { other: "git+https://example.com/other.git" } },
  ],
  [
    "the script of a folder with the name of an allowed package",
    {
      "main.mts": "export {};",
      "sharp/package.json": '{"name":"sharp","version":"1.0.0","scripts":{"install":"echo RAN-CODE"}}',
    },
    { type: "module", dependencies: { sharp: "file:./sharp" } },
  ],
])("never runs or reads %s, and has no token", async (_what, files, json) => {
  const registry = await openRegistry("secret-token");
  const opened = await openRuntime({
    ...sandbox(),
    allowScripts: ["sharp"],
    registry: { url: registry.url, token: "secret-token", pythonIndex: "https://pypi.org/simple", allowedHosts: [] },
  });
  const source = await sourceOf({ "package.json": JSON.stringify(json), ...files }, "main.mts");
  const error: unknown = await opened.runtime.build(source, opened.on, signal).catch((reason: unknown) => reason);
  expect(BuildError.isInstance(error)).toBe(true);
  expect(`${printed(opened)}\n${String(error)}`).not.toMatch(/RAN-CODE|secret-token|root:/);
});
