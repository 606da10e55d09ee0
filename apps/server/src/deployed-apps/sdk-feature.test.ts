import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const run = promisify(execFile);

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startTestServer();
  folder = await mkdtemp(join(tmpdir(), "shoal-sdk-"));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

interface Packument {
  readonly "dist-tags": { readonly latest: string };
  readonly versions: Readonly<
    Record<string, { dependencies: Record<string, string>; dist: { tarball: string; integrity: string } }>
  >;
}

it.each(["client", "contract", "schemas", "transport"])("offers @shoal/%s to npm without a key", async (name) => {
  const answer = await fetch(`${server.baseUrl}/npm/@shoal%2f${name}`);
  const { "dist-tags": tags, versions } = (await answer.json()) as Packument;
  const { dependencies, dist } = versions[tags.latest] ?? expect.fail("The latest version is missing.");
  expect(JSON.stringify(dependencies)).not.toContain("workspace:");
  expect(dist.tarball).toBe(`${server.baseUrl}/npm/@shoal/${name}/-/${name}-${tags.latest}.tgz`);
  const tarball = Buffer.from(await (await fetch(dist.tarball)).arrayBuffer());
  expect(`sha512-${createHash("sha512").update(tarball).digest("base64")}`).toBe(dist.integrity);
});

it("has nothing else", async () => {
  for (const path of [
    "@shoal/server",
    "@shoal/client/-/client-9.9.9.tgz",
    "zod",
    "-/whoami",
    "",
    "@shoal/client/../x",
  ]) {
    const { status } = await fetch(`${server.baseUrl}/npm/${path}`);
    expect(status, path).toBe(404);
  }
  expect((await fetch(`${server.baseUrl}/npm/@shoal/client`, { method: "PUT" })).status).toBe(405);
});

it("is installed by npm with all entry points", async () => {
  await writeFile(join(folder, "package.json"), '{"dependencies":{"@shoal/client":"*"}}');
  await writeFile(join(folder, ".npmrc"), `@shoal:registry=${server.baseUrl}/npm/\n`);
  await run("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder });
  const installed = join(folder, "node_modules/@shoal/client");
  const { exports } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    exports: Record<string, { readonly default: string } | string>;
  };
  for (const entry of Object.values(exports))
    if (typeof entry === "object") expect(await readFile(join(installed, entry.default), "utf8")).not.toBe("");
});
