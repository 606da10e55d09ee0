import { findMemoryGroups } from "./host/memory-groups.ts";
import { PlacementError } from "./interface/placement-error.ts";
import type { ProgramBox, ProgramOptions } from "./interface/program.ts";
import {
  clientFiles,
  openPlacement,
  sessionFolders,
  temporaryDirectory,
  type TestPlacement,
  type TestPlacementOptions,
} from "./testing/placements.ts";
import { FakeCluster, type FakeClusterOptions } from "./testing/fake-cluster.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { describeWith, needsOf, testEngine } from "./testing/requirements.ts";
import { instanceProgramPath } from "@shoal/instance";
import { packFolder } from "@shoal/primitives/archive";
import { once } from "node:events";
import { createWriteStream, existsSync, globSync, readFileSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";

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

const image = "registry.example/shoal:1";

async function remoteEngine(): Promise<FakeEngine> {
  const engine = await FakeEngine.start(instanceProgramPath);
  onTestFinished(() => engine.close());
  return engine;
}

async function onEngine(engine: FakeEngine): Promise<TestPlacementOptions> {
  return { kind: "docker", docker: { hosts: [engine.address], image, tlsDir: await clientFiles() } };
}

async function inCluster(cluster: FakeCluster, warmPool?: string): Promise<TestPlacementOptions> {
  const kubeconfig = join(await temporaryDirectory(), "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig);
  return { kind: "kubernetes", kubernetes: { image, kubeconfig, warmPool }, closed: [] };
}

async function startCluster(options: FakeClusterOptions): Promise<FakeCluster> {
  const cluster = await FakeCluster.start(options);
  onTestFinished(() => cluster.close());
  return cluster;
}

describeWith(
  ["bubblewrap"],
  "a program in a container of another machine",
  suite(async () => onEngine(await remoteEngine())),
);
describeWith(
  ["bubblewrap"],
  "a program in a Sandbox of Kubernetes",
  suite(async () => inCluster(await startCluster({ sandboxes: true }))),
);

function names(cluster: FakeCluster): readonly string[] {
  return (["pods", "sandboxes", "sandboxclaims"] as const).flatMap((kind) =>
    cluster.objects(kind).map(({ metadata }) => metadata.name),
  );
}

describeWith(["bubblewrap"], "programs on other machines", () => {
  it("get copies of folders, archives and files, run next to each other, and end after their last lines", async () => {
    const cluster = await startCluster({ sandboxes: true });
    const { placement } = await openPlacement(await inCluster(cluster));
    expect(placement.copiesProgramFiles).toBe(true);
    const folder = await temporaryDirectory();
    await mkdir(join(folder, "packed/bin"), { recursive: true });
    await writeFile(join(folder, "packed/bin/tool"), "#!/bin/sh\necho run", { mode: 0o755 });
    await symlink("tool", join(folder, "packed/bin/link"));
    const archive = join(folder, "archive.tar.zst");
    await pipeline(packFolder(join(folder, "packed")), createZstdCompress(), createWriteStream(archive));
    await writeFile(join(folder, "single"), "x".repeat(2 ** 20));
    const code = `
      import { execFileSync } from "node:child_process";
      await answer({ ran: String(execFileSync("/unpacked/bin/link")), single: readFileSync(process.env.SINGLE, "utf8").length });
      for (let line = 0; line < 20_000; line++) writeSync(1, "line " + line + "\\n");
      process.exit(7);
    `;
    const options = await optionsOf(code);
    const start = (): Promise<ProgramBox> =>
      placement.startProgram({
        ...options,
        readOnly: [
          ...options.readOnly,
          { from: archive, to: "/unpacked", isArchive: true },
          { from: join(folder, "single"), to: "/opt/shoal/single" },
        ],
        command(place) {
          const { args, env } = options.command(place);
          return { args, env: { ...env, SINGLE: place.pathOf("/opt/shoal/single") } };
        },
      });
    const boxes = await Promise.all([start(), start()]);
    for (const { channel, ended, pid, stderr, stdout } of boxes) {
      const [sent, printed] = await Promise.all([text(channel), text(stdout), text(stderr)]);
      expect(JSON.parse(sent)).toEqual({ ran: "run\n", single: 2 ** 20 });
      expect(printed.trimEnd().split("\n").at(-1)).toBe("line 19999");
      expect(await ended).toEqual({ code: 7, signal: null });
      expect(pid).toBeUndefined();
    }
    await expect.poll(() => names(cluster)).toEqual([]);
  });

  it("have the limits of a program, and no network", async () => {
    const engine = await remoteEngine();
    const { placement } = await openPlacement(await onEngine(engine));
    const box = await placement.startProgram(await optionsOf(`await new Promise(() => setInterval(() => 0, 1000));`));
    const [{ spec } = { spec: undefined }] = [...engine.containers.values()];
    expect(spec?.HostConfig).toMatchObject({
      NetworkMode: "none",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      Binds: [],
      Memory: (512 + 128) * 2 ** 20,
      PidsLimit: 64 + 32,
      Tmpfs: { "/work": expect.stringContaining("size=16m") as string, "/app": expect.any(String) as string },
    });
    // CLONE_NEWUSER is refused.
    expect(JSON.stringify(spec?.HostConfig)).toContain(String(0x1000_0000));
    await box.stop();
    expect(engine.containers.size).toBe(0);
  });

  it("end when they attack their host, and leave nothing", async () => {
    const engine = await remoteEngine();
    const { placement, sessionsDir } = await openPlacement(await onEngine(engine));
    const attacks = [
      `process.kill(process.ppid, "SIGKILL"); await new Promise(() => setInterval(() => 0, 1000));`,
      // The connection of the service.
      `for (;;) writeFileSync("/proc/" + process.ppid + "/fd/1", Buffer.alloc(65536, 255));`,
    ];
    for (const code of attacks) {
      const box = await placement.startProgram(await optionsOf(code));
      const [exit] = await Promise.all([box.ended, text(box.stdout), text(box.stderr)]);
      expect(exit.code).not.toBe(0);
      expect(engine.containers.size).toBe(0);
    }
    expect(await sessionFolders(sessionsDir)).toEqual([]);
    const box = await placement.startProgram(await optionsOf(`await answer("works");`));
    expect(await answerOf(box)).toBe("works");
  });

  it("start on another machine if the engine of the first one does not answer", async () => {
    const engines = [await remoteEngine(), await remoteEngine()];
    const docker = { hosts: engines.map(({ address }) => address), image, tlsDir: await clientFiles() };
    const { placement, sessionsDir } = await openPlacement({ kind: "docker", docker });
    const [away, other] = engines;
    away?.disconnect();
    const box = await placement.startProgram(
      await optionsOf(
        `await new Promise((done) => channel.once("data", done)); await answer(await bodyOf(place.apiUrl));`,
        {
          onApiConnection: (socket) => socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfrom the API"),
        },
      ),
    );
    expect(other?.containers.size).toBe(1);
    box.channel.write("go");
    expect(await answerOf(box)).toEqual({ status: 200, body: "from the API" });
    other?.disconnect();
    await expect(placement.startProgram(await optionsOf(""))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/^The engine at tcp:.* does not answer: /) as string,
    });
    expect(await sessionFolders(sessionsDir)).toEqual([]);
  });

  it("end when their machine is lost", async () => {
    const engine = await remoteEngine();
    const { placement, sessionsDir } = await openPlacement(await onEngine(engine));
    const box = await placement.startProgram(
      await optionsOf(`console.log("on"); await new Promise(() => setInterval(() => 0, 1000));`),
    );
    await new Promise((resolve) => box.stdout.once("data", resolve));
    const [container] = engine.containers.values();
    const closed = container?.child && once(container.child, "close");
    engine.disconnect();
    // The host sees the end of its input.
    await closed;
    engine.isReachable = true;
    expect(await box.ended).toMatchObject({ signal: null });
    expect(await sessionFolders(sessionsDir)).toEqual([]);
  });

  it("get pods without agent-sandbox, and also where sessions claim theirs", async () => {
    for (const { options, pool } of [
      { options: { sandboxes: false } },
      { options: { claims: true }, pool: "shoal-sessions" },
    ]) {
      const cluster = await startCluster(options);
      const { placement } = await openPlacement(await inCluster(cluster, pool));
      const box = await placement.startProgram(
        await optionsOf(`await new Promise((done) => channel.once("data", done)); await answer(process.getuid());`),
      );
      expect(names(cluster)).toEqual([`shoal-${box.id}`]);
      expect(cluster.objects("pods")[0]?.metadata.labels).toMatchObject({ "shoal.dev/part": "session" });
      box.channel.write("go");
      expect(await answerOf(box)).toBe(64_987);
      await expect.poll(() => names(cluster)).toEqual([]);
    }
  });

  it("renew the time at which agent-sandbox ends them", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const cluster = await startCluster({ sandboxes: true });
    const { placement } = await openPlacement(await inCluster(cluster));
    const box = await placement.startProgram(await optionsOf(`await new Promise(() => setInterval(() => 0, 1000));`));
    const time = (): unknown => cluster.find("sandboxes", `shoal-${box.id}`)?.spec?.shutdownTime;
    const before = time();
    expect(before).toEqual(expect.any(String));
    await vi.advanceTimersByTimeAsync(3 * 60_000);
    await expect.poll(time).not.toEqual(before);
    await box.stop();
    expect(names(cluster)).toEqual([]);
  });

  it("say why they cannot start, and leave nothing", async () => {
    const cluster = await startCluster({ sandboxes: true });
    const { placement, sessionsDir } = await openPlacement(await inCluster(cluster));
    const forever = await optionsOf(`await new Promise(() => setInterval(() => 0, 1000));`);
    cluster.fate = "image missing";
    await expect(placement.startProgram(forever)).rejects.toThrow(/ImagePullBackOff/);
    cluster.fate = "never ready";
    const abort = new AbortController();
    const starting = placement.startProgram(forever, abort.signal);
    const failed = expect(starting).rejects.toThrow("no longer needed");
    await expect.poll(() => names(cluster)).toHaveLength(2);
    abort.abort(new Error("no longer needed"));
    await failed;
    await expect.poll(() => names(cluster)).toEqual([]);
    expect(await sessionFolders(sessionsDir)).toEqual([]);
  });
});

describeWith(["chromium", "bubblewrap"], "a program's sandbox", () => {
  it("has its own user and files, and cannot create namespaces, change the app or fill the disk", async () => {
    await checkIsolation({ kind: "sandbox" });
  });
});

const none = (): undefined => undefined;
const groups = await findMemoryGroups(undefined, { debug: none, info: none, warn: none, error: none });
const withGroups = groups === undefined ? " (skipped: this process may make no control groups)" : "";

describeWith(["linux", "chromium", "bubblewrap"], `a program in a sandbox next to containers${withGroups}`, () => {
  it.skipIf(groups === undefined)("has the limit of its memory", async () => {
    const engine = await FakeEngine.startLocal(instanceProgramPath, join(await temporaryDirectory(), "engine.sock"));
    onTestFinished(() => engine.close());
    const docker = { hosts: [engine.address], image: "shoal" };
    const { placement } = await openPlacement({ kind: "docker", standIn: "fine", docker });
    const box = await placement.startProgram(
      await optionsOf(`console.log("on"); await new Promise(() => setInterval(() => 0, 1000));`),
    );
    await new Promise((resolve) => box.stdout.once("data", resolve));
    expect(engine.containers.size).toBe(0);
    const [folder] = globSync(`/sys/fs/cgroup/**/shoal-box-*-${box.id}`);
    const limit = ["memory.max", "memory.limit_in_bytes"].map((name) => join(folder ?? "", name)).find(existsSync);
    expect(Number(readFileSync(limit ?? expect.unreachable("The program has no group."), "utf8"))).toBe(512 * 2 ** 20);
    await box.stop();
    expect(globSync(`/sys/fs/cgroup/**/shoal-box-*-${box.id}`)).toEqual([]);
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
