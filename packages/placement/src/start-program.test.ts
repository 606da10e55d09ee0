import { PlacementError } from "./interface/placement-error.ts";
import type { ProgramBox, ProgramOptions } from "./interface/program.ts";
import {
  openPlacement,
  sessionFolders,
  temporaryDirectory,
  type TestPlacement,
  type TestPlacementOptions,
} from "./testing/placements.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { describeWith, needsOf, testEngine } from "./testing/requirements.ts";
import { instanceProgramPath } from "@shoal/instance";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeEach, expect, it, onTestFinished } from "vitest";

const prelude = `
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { get } from "node:http";
import { connect, createServer, Socket } from "node:net";
const place = JSON.parse(process.env.PLACE);
for (const { port, path } of place.forward)
  await new Promise((done) => createServer((inner) => {
    const outer = connect(path);
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on("error", () => undefined);
  }).listen(port, "127.0.0.1", done));
const channel = typeof place.channel === "number" ? new Socket({ fd: place.channel }) : connect(place.channel);
const answer = (value) => new Promise((done) => channel.end(JSON.stringify(value), done));
const bodyOf = (url) => new Promise((done, fail) => get(url, (response) => {
  let body = "";
  response.on("data", (chunk) => body += chunk).on("end", () => done({ status: response.statusCode, body }));
}).on("error", fail));
const throughProxy = (url) => { const { hostname, port } = new URL(place.proxyUrl);
  return bodyOf({ hostname, port, path: url, headers: { host: new URL(url).host } }); };
`;

async function appFolder(code: string): Promise<string> {
  const folder = await temporaryDirectory();
  await chmod(folder, 0o755);
  await mkdir(join(folder, "app"));
  await writeFile(join(folder, "app/main.mjs"), `${prelude}\n${code}\nprocess.exit(0);`);
  return join(folder, "app");
}

async function optionsOf(code: string, more: Partial<ProgramOptions> = {}): Promise<ProgramOptions> {
  return {
    project: "p1",
    readOnly: [{ from: await appFolder(code), to: "/app" }],
    writable: [],
    scratch: ["/work"],
    folder: "/app",
    reach: "public",
    memoryBytes: 512 * 2 ** 20,
    diskBytes: 16 * 2 ** 20,
    maxProcesses: 64,
    command: (place) => ({
      args: [place.pathOf("/app/main.mjs")],
      env: { PLACE: JSON.stringify({ ...place, work: place.pathOf("/work") }) },
    }),
    ...more,
  };
}

async function answerOf(box: ProgramBox): Promise<unknown> {
  const [sent, errors] = await Promise.all([text(box.channel), text(box.stderr), text(box.stdout)]);
  await box.ended;
  if (sent === "") throw new Error(errors);
  return JSON.parse(sent);
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function suite(options: () => TestPlacementOptions | Promise<TestPlacementOptions>): () => void {
  return () => {
    let opened: TestPlacement;
    beforeEach(async () => {
      opened = await openPlacement(await options());
    });

    it("runs a program with a channel, its output and a writable folder, and removes its folders", async () => {
      const { placement, sessionsDir } = opened;
      const box = await placement.startProgram(
        await optionsOf(`
          console.log("printed");
          writeFileSync(place.work + "/file", "kept");
          const asked = await new Promise((done) => channel.once("data", done));
          await answer({ asked: String(asked), file: readFileSync(place.work + "/file", "utf8") });
        `),
      );
      box.channel.write("hello");
      const printed = text(box.stdout);
      const [sent] = await Promise.all([text(box.channel), text(box.stderr)]);
      expect(JSON.parse(sent)).toEqual({ asked: "hello", file: "kept" });
      expect(await printed).toBe("printed\n");
      expect(await box.ended).toEqual({ code: 0, signal: null });
      expect(await sessionFolders(sessionsDir)).toEqual([]);
    });

    it("leads to the API and, through the egress gateway, only to allowed hosts", async () => {
      const port = await listening(createServer((_request, response) => response.end("outside")));
      const api = createServer((request, response) => response.end(`api ${request.headers.host ?? ""}`));
      onTestFinished(() => void api.close());
      const fetchAll = `await answer([
        await bodyOf(place.apiUrl),
        await throughProxy("http://127.0.0.1:${String(port)}/"),
        await throughProxy("http://127.0.0.1:9/"),
      ]);`;
      const box = await opened.placement.startProgram(
        await optionsOf(fetchAll, {
          reach: [`127.0.0.1:${String(port)}`],
          onApiConnection: (socket) => api.emit("connection", socket),
        }),
      );
      const [fromApi, allowed, refused] = (await answerOf(box)) as { status: number; body: string }[];
      expect(fromApi).toMatchObject({ status: 200, body: expect.stringMatching(/^api 127\.0\.0\.1:\d+$/) as string });
      expect(allowed).toEqual({ status: 200, body: "outside" });
      expect(refused).toMatchObject({ status: 403, body: expect.stringContaining("build_allowed_hosts") as string });
      const open = await opened.placement.startProgram(
        await optionsOf(`await answer(await throughProxy("http://127.0.0.1:${String(port)}/"));`),
      );
      expect(await answerOf(open)).toMatchObject({ status: 403 });
    });

    it("ends a program that does not end, when it is aborted or the placement closes", async () => {
      const { placement, sessionsDir } = opened;
      const forever = await optionsOf(`console.log("on"); await new Promise((done) => setTimeout(done, 3600_000));`);
      const box = await placement.startProgram(forever);
      await new Promise((resolve) => box.stdout.once("data", resolve));
      await box.stop();
      await expect(placement.startProgram(forever, AbortSignal.abort(new Error("no")))).rejects.toThrow("no");
      const last = await placement.startProgram(forever);
      await placement.close();
      await last.ended;
      const late = await placement.startProgram(forever).catch((error: unknown) => error);
      expect(PlacementError.isInstance(late) && late.code).toBe("closed");
      await expect(sessionFolders(sessionsDir)).resolves.toEqual([]);
    });
  };
}

describeWith(
  ["chromium"],
  "a program in the process placement",
  suite(() => ({ kind: "process" })),
);
describeWith(
  ["chromium", "bubblewrap"],
  "a program in a sandbox",
  suite(() => ({ kind: "sandbox" })),
);

const inContainers = { kind: "docker", noSandbox: true, standIn: "fine" } as const;

/** Of the engine of `npm run image:test`, or of a substitute. */
async function containerOptions(): Promise<TestPlacementOptions> {
  if (testEngine !== undefined) return inContainers;
  const engine = await FakeEngine.startLocal(instanceProgramPath, join(await temporaryDirectory(), "engine.sock"));
  onTestFinished(() => engine.close());
  return { ...inContainers, docker: { hosts: [engine.address], image: "shoal" } };
}

describeWith(
  testEngine === undefined ? ["chromium", "bubblewrap", "root"] : needsOf("docker"),
  "a program in a container",
  suite(containerOptions),
);

describeWith(["chromium", "bubblewrap"], "a program's sandbox", () => {
  it("has its own user and files, and cannot create namespaces, change the app or fill the disk", async () => {
    await checkIsolation({ kind: "sandbox" });
  });
});

describeWith(needsOf("docker"), "a program's container", () => {
  it("has its own user and files, and cannot create namespaces, change the app or fill the disk", async () => {
    await checkIsolation(inContainers);
  });
});

async function checkIsolation(options: TestPlacementOptions): Promise<void> {
  const { placement } = await openPlacement(options);
  const box = await placement.startProgram(
    await optionsOf(`
        import { execFileSync } from "node:child_process";
        import { userInfo } from "node:os";
        import { readdirSync } from "node:fs";
        const tried = (run) => { try { return String(run()); } catch (error) { return error.code ?? error.message; } };
        await answer({
          user: userInfo().username,
          app: tried(() => writeFileSync("/app/x", "")),
          host: tried(() => readdirSync(${JSON.stringify(import.meta.dirname)})),
          namespace: tried(() => execFileSync("unshare", ["--user", "true"], { stdio: "ignore" })),
          disk: tried(() => writeFileSync("/work/big", Buffer.alloc(32 * 2 ** 20))),
        });
      `),
  );
  expect(await answerOf(box)).toEqual({
    user: "shoal",
    app: "EROFS",
    host: "ENOENT",
    namespace: expect.stringContaining("Command failed") as string,
    disk: "ENOSPC",
  });
}
