import { examineDocker } from "./container/examine-docker.ts";
import { openPage } from "./testing/cdp.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { clientFiles, openPlacement, sessionFolders, type TestPlacement } from "./testing/placements.ts";
import { describeWith } from "./testing/requirements.ts";
import { startSite } from "./testing/site.ts";
import { instanceProgramPath } from "@shoal/instance";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";

const assign = { session_id: "s1", timeout_seconds: 3_600 };
const image = "registry.example/shoal:1";

async function startEngine(memoryBytes?: number): Promise<FakeEngine> {
  const engine = await FakeEngine.start(instanceProgramPath, memoryBytes);
  onTestFinished(() => engine.close());
  return engine;
}

async function open(
  engines: readonly FakeEngine[],
  options: { readonly allowPrivateHosts?: readonly string[] } = {},
): Promise<TestPlacement> {
  const docker = { hosts: engines.map(({ address }) => address), image, tlsDir: await clientFiles() };
  return openPlacement({ kind: "docker", docker, ...options });
}

describeWith(["chromium", "bubblewrap"], "containers of other machines", () => {
  it("run a session without a network, whose only way out is the egress gateway", async () => {
    const site = await startSite();
    const port = String((site.address() as AddressInfo).port);
    const engine = await startEngine();
    const { placement, sessionsDir } = await open([engine], { allowPrivateHosts: [`127.0.0.1:${port}`] });
    expect(placement.abilities.policies).toBe(false);
    const instance = await placement.acquire(assign, undefined, { memoryBytes: 2 ** 30 });
    expect(instance).toMatchObject({ kind: "docker", pid: undefined });
    expect([...engine.containers.values()]).toMatchObject([{ memoryBytes: 2 ** 30, spec: { Image: image } }]);
    const page = await openPage(instance);
    expect(await page.open(`http://127.0.0.1:${port}/`)).toEqual({ error: "", shown: "the host's page" });
    expect((await page.open(`http://127.0.0.2:${port}/`)).error).toBe("net::ERR_EMPTY_RESPONSE");
    expect(instance.transferred().receivedBytes).toBeGreaterThan(0);

    // More than the buffers of every stream in between, in both directions at once.
    const content = "x".repeat(20 * 2 ** 20);
    const write = { method: "PUT", path: "/fs/write_file?path=/tmp/large" };
    const written = await Promise.all([1, 2].map(() => instance.request(write, content)));
    expect(written.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
    for (const answer of written) answer.resume();
    const read = await instance.request({ method: "GET", path: "/fs/read_file?path=/tmp/large" });
    expect((await text(read)).length).toBe(content.length);

    await instance.stop();
    expect(await instance.ended).toEqual({ reason: "stopped" });
    expect([...engine.containers]).toEqual([]);
    expect(await sessionFolders(sessionsDir)).toEqual([]);
  });

  it("are spread by memory, and survive the loss of a machine", async () => {
    const [small, large] = [await startEngine(4 * 2 ** 30), await startEngine(12 * 2 ** 30)];
    const { placement } = await open([small, large]);
    const instances = await Promise.all([1, 2, 3, 4].map(() => placement.acquire(assign)));
    expect([small.containers.size, large.containers.size]).toEqual([1, 3]);
    const [lostName] = [...small.containers.values()].map(({ name }) => name);
    const lost = instances.find(({ id }) => `shoal-${id}` === lostName);
    const process = [...small.containers.values()][0]?.child;
    small.disconnect();
    expect((await lost?.ended)?.reason).toBe("instance_lost");
    // The instance sees the end of its input.
    if (process?.exitCode === null) await once(process, "close");
    await placement.acquire(assign);
    expect(large.containers.size).toBe(4);
    small.isReachable = true;
  });

  it("name an engine that does not answer, at the start and for the limit of memory", async () => {
    const engine = await startEngine();
    const { placement } = await open([engine]);
    const instance = await placement.acquire(assign);
    const silent = {
      code: "unavailable",
      message: expect.stringMatching(/^The engine at tcp:.* does not answer: /) as string,
    };
    engine.isReachable = false;
    await expect(placement.acquire(assign)).rejects.toMatchObject(silent);
    engine.isReachable = true;
    engine.unanswered = "update";
    await expect(placement.acquire(assign, undefined, { memoryBytes: 2 ** 30 })).rejects.toMatchObject(silent);
    await instance.stop();
    expect(engine.containers.size).toBe(0);
  });

  it("end with their service, and are removed when another server has found them twice", async () => {
    const engine = await startEngine();
    const spec = { Labels: { "dev.shoal.server": "killed" } } as never;
    engine.containers.set("left", { name: "left", spec, state: "exited", code: 0 });
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    await open([engine]);
    expect([...engine.containers.keys()]).toEqual(["left"]);
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => engine.containers.size).toBe(0);
  });

  it("are removed later if the engine did not answer when they ended", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const engine = await startEngine();
    const { placement } = await open([engine]);
    await placement.acquire(assign);
    const [running] = engine.containers.values();
    if (running === undefined) throw new Error("The instance has no container.");
    engine.containers.set("left", { name: "left", spec: running.spec, state: "exited", code: 0 });
    await expect
      .poll(() => {
        // It must be found twice.
        vi.advanceTimersByTime(60_000);
        return [...engine.containers.values()].map(({ name }) => name);
      })
      .toEqual([running.name]);
  });

  it("need client certificates, an engine, and an image of this version", async () => {
    const engine = await startEngine();
    const tlsDir = await clientFiles();
    const hosts = [engine.address];
    const reasonOf = async (options: Parameters<typeof examineDocker>[0]) => {
      const report = await examineDocker(options);
      return report.works ? "" : report.reason;
    };
    expect(await examineDocker({ hosts, image, tlsDir })).toMatchObject({
      works: true,
      engines: [`docker 28.0.0 at ${engine.address}`],
    });
    expect(await reasonOf({ hosts, image })).toMatch(/^docker_host: .* needs docker_tls_dir, the folder with ca\.pem/);
    expect(await reasonOf({ hosts, image, tlsDir: "/nowhere" })).toMatch(/^docker_tls_dir: ENOENT/);
    expect(await reasonOf({ hosts, image: "missing", tlsDir })).toMatch(/^docker_image: the engine at tcp.* no image/);
    expect(await reasonOf({ hosts: ["ssh://host"], image, tlsDir })).toMatch(/^docker_host: must be a socket/);
    const other = openPlacement({ kind: "docker", docker: { hosts, image, tlsDir }, standIn: "fine" });
    await expect(other).rejects.toThrow(/has no instance program/);
    engine.disconnect();
    expect(await reasonOf({ hosts, image, tlsDir })).toMatch(
      /no container engine answers .* docker_tls_dir belong to it/,
    );
    expect([...engine.containers]).toEqual([]);
  });
});
