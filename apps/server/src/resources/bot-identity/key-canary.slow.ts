import { Browser } from "@shoal/schemas";
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { presentServerSecret } from "../../config/data-dir.ts";
import { Envelopes } from "../../storage/envelopes/envelopes.ts";
import { openMasterKeys } from "../../storage/envelopes/master-keys.ts";
import { installationOf } from "../../storage/envelopes/rewrap-command.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const chunkBytes = 8 * 2 ** 20;

let server: TestServer;
let site: Server;
let signature: string | undefined;
beforeAll(async () => {
  site = createServer((request, response) => {
    signature = String(request.headers["signature-input"]);
    response.setHeader("content-type", "text/html").end("<title>shop</title>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1"] });
});
afterAll(async () => {
  await server.close();
  site.close();
  site.closeAllConnections();
});

/** The private key of the project, as the service stores it. */
async function privateKey(): Promise<string> {
  const { database, dataDir } = server;
  const keys = await openMasterKeys(
    { master_key: "secret_key" },
    { serverSecret: presentServerSecret(dataDir, undefined), installation: await installationOf(database.query) },
  );
  const row = await database.query.selectFrom("bot_keys").selectAll().executeTakeFirstOrThrow();
  return new Envelopes(keys).unseal(row.private_key, {
    projectId: row.project_id,
    id: row.id,
    field: "bot_keys.private_key",
  });
}

function formsOf(key: string): readonly Buffer[] {
  const bytes = Buffer.from(key, "base64url");
  return [
    bytes,
    Buffer.from(key),
    Buffer.from(bytes.toString("base64").slice(0, 40)),
    Buffer.from(bytes.toString("hex")),
  ];
}

/** Instances and their browsers: descendants of this process, without the embedded database. */
function programsOfSessions(): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readText(`/proc/${name}/stat`);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]));
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === process.pid || isBelow(parent));
  };
  return [...parents.keys()].filter(
    (pid) => isBelow(pid) && !readText(`/proc/${String(pid)}/cmdline`).includes("postgres"),
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process has ended.
    return "";
  }
}

/** The writable memory of a process, in overlapping chunks. */
function* memoryOf(pid: number): Generator<Buffer> {
  const maps = readText(`/proc/${String(pid)}/maps`);
  let file: number;
  try {
    file = openSync(`/proc/${String(pid)}/mem`, "r");
  } catch {
    return;
  }
  const chunk = Buffer.alloc(chunkBytes);
  try {
    for (const [, from = "", to = ""] of maps.matchAll(/^([\da-f]+)-([\da-f]+) rw/gm)) {
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += chunkBytes - 128) {
        const bytes = readMemory(file, chunk.subarray(0, Math.min(chunkBytes, end - at)), at);
        if (bytes > 0) yield chunk.subarray(0, bytes);
      }
    }
  } finally {
    closeSync(file);
  }
}

function readMemory(file: number, into: Buffer, at: number): number {
  try {
    return readSync(file, into, 0, into.length, at);
  } catch {
    // Unmapped since, or a mapping of a device.
    return 0;
  }
}

it.skipIf(process.platform !== "linux")(
  "keeps the private key of Web Bot Auth out of the memory, environment and commands of a session's programs",
  async () => {
    const created = await server.request("POST", "/browsers", { body: { web_bot_auth: { enabled: true } } });
    const { session_id } = Browser.parse(created.body);
    const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
    const code = `await page.goto(${JSON.stringify(url)}); return await page.title();`;
    const run = await server.request("POST", `/browsers/${session_id}/playwright/execute`, { body: { code } });
    expect(run.body).toMatchObject({ result: "shop" });
    const keyId = /keyid="([^"]+)"/.exec(signature ?? "")?.[1] ?? expect.fail(signature);

    const secret = formsOf(await privateKey());
    const found: string[] = [];
    let keyIds = 0;
    const programs = programsOfSessions();
    expect(programs.length).toBeGreaterThan(2);
    for (const pid of programs) {
      for (const name of ["environ", "cmdline"]) {
        const text = Buffer.from(readText(`/proc/${String(pid)}/${name}`), "latin1");
        if (secret.some((form) => text.includes(form))) found.push(`${name} of ${String(pid)}`);
      }
      for (const chunk of memoryOf(pid)) {
        if (chunk.includes(keyId)) keyIds += 1;
        if (secret.some((form) => chunk.includes(form))) found.push(`memory of ${String(pid)}`);
      }
    }
    // The signatures passed through them, so the search finds texts in their memory.
    expect(keyIds).toBeGreaterThan(0);
    expect(found).toEqual([]);
    const answers = JSON.stringify([created.body, run.body]) + server.log();
    expect(secret.some((form) => Buffer.from(answers, "latin1").includes(form))).toBe(false);
  },
);
