import { openPage } from "./testing/cdp.ts";
import { FakeCluster, type FakeClusterOptions } from "./testing/fake-cluster.ts";
import { manifestOf } from "./testing/fake-objects.ts";
import {
  openPlacement,
  sessionFolders,
  temporaryDirectory,
  type TestPlacement,
  type TestPlacementOptions,
} from "./testing/placements.ts";
import { describeWith } from "./testing/requirements.ts";
import { startSite } from "./testing/site.ts";
import { examineKubernetes } from "./kubernetes/examine-kubernetes.ts";
import { instancePort, labels as labelNames } from "./kubernetes/pod-spec.ts";
import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import { remoteProtocols } from "@shoal/instance";
import { connectRemote } from "./remote/remote-connection.ts";
import { writeFile } from "node:fs/promises";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";

const assign = { session_id: "s1", timeout_seconds: 3_600 };
const image = "registry.example/shoal:1";

interface Opened extends TestPlacement {
  readonly cluster: FakeCluster;
}

async function startCluster(
  options: FakeClusterOptions = {},
): Promise<{ readonly cluster: FakeCluster; readonly kubeconfig: string }> {
  const cluster = await FakeCluster.start(options);
  onTestFinished(() => cluster.close());
  const kubeconfig = join(await temporaryDirectory(), "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig);
  return { cluster, kubeconfig };
}

async function open({
  sandboxes = true,
  serverPod,
  ...options
}: Partial<TestPlacementOptions> & {
  readonly sandboxes?: boolean;
  readonly serverPod?: string;
} = {}): Promise<Opened> {
  const { cluster, kubeconfig } = await startCluster({ sandboxes });
  const kubernetes = { image, kubeconfig, serverPod };
  const opened = await openPlacement({ kind: "kubernetes", kubernetes, closed: [], ...options });
  return { ...opened, cluster };
}

const warmPool = "shoal-sessions";

/** A placement that claims its pods. */
async function openClaims(waitingPods: number, options: Partial<TestPlacementOptions> = {}): Promise<Opened> {
  const { cluster, kubeconfig } = await startCluster({ claims: true, waitingPods });
  const kubernetes = { image, kubeconfig, warmPool };
  return { ...(await openPlacement({ kind: "kubernetes", kubernetes, closed: [], ...options })), cluster };
}

/** Changes the template from which pods are made. */
function changeTemplate(cluster: FakeCluster, change: (spec: TemplateSpec) => object): void {
  const template = cluster.find("sandboxtemplates", warmPool);
  if (template === undefined) throw new Error("The cluster has no template.");
  cluster.put("sandboxtemplates", { ...template, spec: { ...template.spec, ...change(template.spec as never) } });
}

interface TemplateSpec {
  readonly podTemplate: { readonly metadata: { readonly labels: object }; readonly spec: object };
}

/** An address that is closed after its first connection. */
async function startDoor(): Promise<{ readonly address: string; readonly tries: () => number }> {
  let tries = 0;
  const server = createServer((socket) => {
    tries += 1;
    server.close();
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`, tries: () => tries };
}

function remains(cluster: FakeCluster): readonly string[] {
  return [...cluster.objects("pods"), ...cluster.objects("sandboxes")].map(({ metadata }) => metadata.name);
}

describeWith(["chromium", "bubblewrap"], "the placement kubernetes", () => {
  it("runs a session in a pod, whose only way out is the egress gateway", async () => {
    const site = await startSite();
    const port = String((site.address() as AddressInfo).port);
    const { cluster, placement, sessionsDir } = await open({ allowPrivateHosts: [`127.0.0.1:${port}`] });
    const instance = await placement.acquire(assign, undefined, { memoryBytes: 2 ** 30 });
    expect(instance).toMatchObject({ kind: "kubernetes", pid: undefined });
    expect(cluster.resized).toEqual([expect.stringContaining('"memory":"1073741824"')]);
    const [pod] = cluster.objects("pods");
    expect(pod?.spec).toMatchObject({ automountServiceAccountToken: false, containers: [{ image }] });

    expect(manifestOf("NetworkPolicy").spec).toMatchObject({
      podSelector: { matchLabels: { "shoal.dev/part": pod?.metadata.labels?.["shoal.dev/part"] } },
      ingress: [{ ports: [{ port: instancePort }] }],
      egress: [],
    });

    const page = await openPage(instance);
    expect(await page.open(`http://127.0.0.1:${port}/`)).toEqual({ error: "", shown: "the host's page" });
    expect((await page.open(`http://127.0.0.2:${port}/`)).error).toBe("net::ERR_EMPTY_RESPONSE");
    expect(instance.transferred().receivedBytes).toBeGreaterThan(0);
    const listed = await instance.request({ method: "GET", path: "/fs/list_files?path=/home/shoal" });
    expect(await text(listed)).toContain("Downloads");

    // Other machines of the network reach the port, and nothing behind it.
    const host = String(pod?.status?.podIP);
    const other = { host, port: instancePort, pin: "0".repeat(64) };
    await expect(connectRemote(other, new TlsIdentity("other"), remoteProtocols.instance)).rejects.toThrow(
      /another key/,
    );

    await instance.stop();
    expect(await instance.ended).toEqual({ reason: "stopped" });
    expect(remains(cluster)).toEqual([]);
    expect(await sessionFolders(sessionsDir)).toEqual([]);
  });

  it("does not compare the memory of a pod with the limit of the server's container", async () => {
    const constrained = vi.spyOn(process, "constrainedMemory").mockReturnValue(512 * 2 ** 20);
    onTestFinished(() => {
      constrained.mockRestore();
    });
    const { placement } = await open({ sandboxes: false, sessionMemoryBytes: 4 * 2 ** 30 });
    expect(placement.memory).toEqual({ machineBytes: Number.MAX_SAFE_INTEGER, usualBytes: 4 * 2 ** 30 });
  });

  it("survives conflicts, broken watches and forgotten resource versions", async () => {
    const { cluster, placement } = await open({ sandboxes: false });
    cluster.failures.push(409, 503, 429);
    const [first, second] = await Promise.all([placement.acquire(assign), placement.acquire(assign)]);
    cluster.dropWatches(false);
    cluster.dropWatches(true);
    const third = await placement.acquire(assign);
    expect(cluster.objects("pods")).toHaveLength(3);
    cluster.dropWatches(true);
    await Promise.all([first, second, third].map((each) => each.stop()));
    expect(remains(cluster)).toEqual([]);
  });

  it("ends a session with the reason when its pod is evicted, deleted or drained", async () => {
    const { cluster, placement } = await open();
    const [evicted, deleted, drained] = await Promise.all([
      placement.acquire(assign),
      placement.acquire(assign),
      placement.acquire(assign),
    ]);
    cluster.evict(`shoal-${evicted.id}`);
    expect(await evicted.ended).toEqual({
      reason: "instance_lost",
      detail: expect.stringMatching(/ended it \(Evicted\): The node was low on resource: memory/) as string,
    });
    cluster.deletePod(`shoal-${deleted.id}`);
    expect(await deleted.ended).toEqual({
      reason: "instance_lost",
      detail: `Pod shoal-${deleted.id}: it was deleted outside of the service.`,
    });
    cluster.deletePod(`shoal-${drained.id}`, {
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting.",
    });
    expect(await drained.ended).toEqual({
      reason: "instance_lost",
      detail: `Pod shoal-${drained.id}: Kubernetes ended it (EvictionByEvictionAPI): Eviction API: evicting.`,
    });
    await expect.poll(() => remains(cluster)).toEqual([]);
  });

  it("explains why a session cannot start, and removes its pod and its files", async () => {
    const { cluster, placement, sessionsDir } = await open({ readyMs: 5_000 });
    cluster.fate = "image missing";
    await expect(placement.acquire(assign)).rejects.toMatchObject({
      code: "start_failed",
      message: expect.stringContaining("ImagePullBackOff") as string,
    });
    cluster.fate = "unschedulable";
    await expect(placement.acquire(assign)).rejects.toMatchObject({
      code: "no_capacity",
      message: expect.stringMatching(/cannot be scheduled \(Unschedulable\): 0\/3 nodes.*memory\.$/) as string,
    });
    cluster.quota = "browsers, requested: pods=1, used: pods=10, limited: pods=10";
    await expect(placement.acquire(assign)).rejects.toMatchObject({
      code: "no_capacity",
      message: expect.stringContaining("exceeded quota: browsers") as string,
    });
    expect(remains(cluster)).toEqual([]);
    expect(await sessionFolders(sessionsDir)).toEqual([]);
  });

  it("deletes the pod of an acquisition that is aborted", async () => {
    const { cluster, placement } = await open();
    cluster.fate = "never ready";
    const abort = new AbortController();
    const acquiring = placement.acquire(assign, abort.signal);
    await expect.poll(() => remains(cluster)).toHaveLength(2);
    abort.abort(new Error("the caller left"));
    await expect(acquiring).rejects.toThrow("the caller left");
    await expect.poll(() => remains(cluster)).toEqual([]);
  });

  it("deletes what killed servers left, and not the pods of others", async () => {
    const { cluster, kubeconfig } = await startCluster();
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    const labels = {
      "app.kubernetes.io/managed-by": "shoal",
      "shoal.dev/part": "session",
      "shoal.sandbox.users.io/server": "killed",
    };
    const terminated = { exitCode: 0, finishedAt: hourAgo };
    const put = (name: string, status: Record<string, unknown>): void => {
      const metadata = { name, namespace: "browsers", labels: { ...labels, "shoal.sandbox.users.io/instance": name } };
      cluster.put("pods", { apiVersion: "v1", kind: "Pod", metadata, status });
    };
    put("ended", { phase: "Succeeded", containerStatuses: [{ name: "instance", state: { terminated } }] });
    put("running", { phase: "Running", podIP: "127.0.0.9", containerStatuses: [{ state: { running: {} } }] });
    const sandbox = { name: "expired", namespace: "browsers", labels };
    const spec = { shutdownTime: hourAgo };
    cluster.put("sandboxes", { apiVersion: "agents.x-k8s.io/v1beta1", kind: "Sandbox", metadata: sandbox, spec });
    await openPlacement({ kind: "kubernetes", kubernetes: { image, kubeconfig }, closed: [] });
    await expect.poll(() => remains(cluster)).toEqual(["running"]);
  });

  it("deletes ended pods that it could not delete before, and keeps its running ones", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { cluster, placement } = await open({ sandboxes: false });
    const instance = await placement.acquire(assign);
    const labels = cluster.find("pods", `shoal-${instance.id}`)?.metadata.labels ?? {};
    const metadata = {
      name: "undeleted",
      namespace: "browsers",
      labels: { ...labels, [labelNames.instance]: "undeleted" },
    };
    const terminated = { exitCode: 0, finishedAt: new Date(Date.now() - 3_600_000).toISOString() };
    const status = { phase: "Succeeded", containerStatuses: [{ name: "instance", state: { terminated } }] };
    cluster.put("pods", { apiVersion: "v1", kind: "Pod", metadata, status });
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => remains(cluster)).toEqual([`shoal-${instance.id}`]);
    await instance.stop();
  });

  it("keeps running sandboxes when the clock of the server is wrong", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { cluster, placement } = await open();
    const instance = await placement.acquire(assign);
    const own = `shoal-${instance.id}`;
    const put = (kind: "pods" | "sandboxes", name: string, rest: object): void => {
      const labels = { ...cluster.find("pods", own)?.metadata.labels, [labelNames.instance]: name };
      cluster.put(kind, { metadata: { name, namespace: "browsers", labels }, ...rest } as never);
    };
    const nowMs = Date.now();
    const shutdownTime = new Date(nowMs + 10 * 60_000).toISOString();
    put("sandboxes", "of-another-server", { spec: { shutdownTime } });
    const terminated = { exitCode: 0, finishedAt: new Date(0).toISOString() };
    put("pods", "ended", { status: { phase: "Succeeded", containerStatuses: [{ state: { terminated } }] } });
    // Between two renewals.
    vi.setSystemTime(nowMs + 20 * 60_000);
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => cluster.find("pods", "ended")).toBeUndefined();
    for (const name of [own, "of-another-server"]) expect(cluster.find("sandboxes", name)).toBeDefined();

    const time = (): unknown => cluster.find("sandboxes", own)?.spec?.shutdownTime;
    const before = time();
    vi.setSystemTime(nowMs - 20 * 60_000);
    await vi.advanceTimersByTimeAsync(2 * 60_000);
    await expect.poll(time).not.toBe(before);
    expect(Date.parse(String(time()))).toBeGreaterThan(nowMs);
    await instance.stop();
  });

  it("claims a pod that waits with a browser, renews the claim, and deletes it at the end", async () => {
    const site = await startSite();
    const host = `127.0.0.1:${String((site.address() as AddressInfo).port)}`;
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { cluster, placement } = await openClaims(1, { allowPrivateHosts: [host] });
    const waiting = `${warmPool}-1`;
    expect(remains(cluster)).toEqual([waiting, waiting]);
    const instance = await placement.acquire(assign);

    const [claim] = cluster.objects("sandboxclaims");
    expect(claim?.status).toMatchObject({ sandbox: { name: waiting } });
    expect(cluster.find("pods", waiting)?.metadata.labels).toMatchObject({
      "app.kubernetes.io/managed-by": "shoal",
      "shoal.dev/part": "session",
      "shoal.sandbox.users.io/instance": instance.id,
    });
    // The pool is full again, and its new pod belongs to no server.
    expect(cluster.find("pods", `${warmPool}-2`)?.metadata.labels).not.toHaveProperty([
      "shoal.sandbox.users.io/server",
    ]);
    const page = await openPage(instance);
    expect(await page.open(`http://${host}/`)).toEqual({ error: "", shown: "the host's page" });

    const lifecycle = (): unknown => cluster.objects("sandboxclaims")[0]?.spec?.lifecycle;
    const before = lifecycle();
    expect(before).toMatchObject({ shutdownPolicy: "Delete", ttlSecondsAfterFinished: 60 });
    await vi.advanceTimersByTimeAsync(3 * 60_000);
    await expect.poll(lifecycle).not.toEqual(before);
    expect(lifecycle()).toMatchObject({ shutdownPolicy: "Delete" });

    await instance.stop();
    expect(cluster.objects("sandboxclaims")).toEqual([]);
    await expect.poll(() => remains(cluster)).toEqual([`${warmPool}-2`, `${warmPool}-2`]);
  });

  it("makes a pod for a claim when none waits, and ends the session when the claim is deleted", async () => {
    const { cluster, placement } = await openClaims(0);
    const instance = await placement.acquire(assign);
    expect(remains(cluster)).toEqual([`shoal-${instance.id}`, `shoal-${instance.id}`]);
    cluster.remove("sandboxclaims", `shoal-${instance.id}`);
    expect(await instance.ended).toMatchObject({ reason: "instance_lost" });
    expect(remains(cluster)).toEqual([]);
  });

  it("explains a claim that agent-sandbox refuses, and one whose pod does not start", async () => {
    const { cluster, placement, sessionsDir } = await openClaims(0, { readyMs: 5_000 });
    changeTemplate(cluster, ({ podTemplate }) => {
      const labels = { ...podTemplate.metadata.labels, "shoal.sandbox.users.io/server": "other" };
      return { podTemplate: { ...podTemplate, metadata: { labels } } };
    });
    await expect(placement.acquire(assign)).rejects.toThrow(
      /not ready \(InvalidMetadata\): .*"shoal\.sandbox\.users\.io\/server" is in the template/,
    );
    changeTemplate(cluster, ({ podTemplate }) => {
      const labels = { "shoal.dev/part": "session" };
      return { podTemplate: { ...podTemplate, metadata: { labels } } };
    });
    cluster.fate = "image missing";
    await expect(placement.acquire(assign)).rejects.toThrow(/ImagePullBackOff/);
    cluster.fate = "never ready";
    await expect(placement.acquire(assign)).rejects.toThrow(/not ready \(DependenciesNotReady\): Pod is Pending/);
    cluster.quota = "sessions, requested: count/sandboxclaims=1";
    await expect(placement.acquire(assign)).rejects.toThrow(/exceeded quota: sessions/);
    cluster.quota = undefined;
    changeTemplate(cluster, ({ podTemplate }) => {
      const containers = [{ name: "instance", image: "registry.example/shoal:2" }];
      return { podTemplate: { ...podTemplate, spec: { ...podTemplate.spec, containers } } };
    });
    await expect(placement.acquire(assign)).rejects.toThrow(/has the image registry\.example\/shoal:2/);
    cluster.remove("sandboxwarmpools", warmPool);
    await expect(placement.acquire(assign)).rejects.toThrow(/the namespace browsers has no SandboxWarmPool/);
    await expect.poll(() => remains(cluster)).toEqual([]);
    expect(cluster.objects("sandboxclaims")).toEqual([]);
    expect(await sessionFolders(sessionsDir)).toEqual([]);
  });

  it("refuses a template whose pods would have a network, and a cluster without claims", async () => {
    const { cluster, kubeconfig } = await startCluster({ claims: true });
    const reason = async (options: object = {}): Promise<string> => {
      const report = await examineKubernetes({ image, kubeconfig, warmPool, ...options });
      return report.works ? "" : report.reason;
    };
    changeTemplate(cluster, () => ({ networkPolicyManagement: "Managed" }));
    expect(await reason()).toMatch(/managed NetworkPolicy that opens the network/);
    changeTemplate(cluster, ({ podTemplate }) => ({
      networkPolicy: { ingress: [] },
      podTemplate: { ...podTemplate, spec: { ...podTemplate.spec, hostNetwork: true } },
    }));
    expect(await reason()).toMatch(/uses the network of the node/);
    changeTemplate(cluster, ({ podTemplate }) => ({ podTemplate: { ...podTemplate, metadata: {} } }));
    expect(await reason()).toMatch(/lacks the label shoal\.dev\/part: session/);
    expect(await reason({ warmPool: "other" })).toMatch(/has no SandboxWarmPool other/);
    const without = await startCluster();
    expect(await reason({ kubeconfig: without.kubeconfig })).toMatch(/has no SandboxClaim of extensions\.agents/);
  });

  it("deletes the claims of killed servers, and no pods that wait", async () => {
    const { cluster, kubeconfig } = await startCluster({ claims: true, waitingPods: 1 });
    const metadata = (name: string, server: string) => {
      const labels = {
        "app.kubernetes.io/managed-by": "shoal",
        "shoal.dev/part": "session",
        "shoal.sandbox.users.io/server": server,
        "shoal.sandbox.users.io/instance": name,
      };
      return { name, namespace: "browsers", labels };
    };
    for (const [name, ms] of [
      ["expired", -60_000],
      ["running", 60_000],
    ] as const) {
      const lifecycle = { shutdownTime: new Date(Date.now() + ms).toISOString() };
      const kind = { apiVersion: "extensions.agents.x-k8s.io/v1beta1", kind: "SandboxClaim" };
      cluster.put("sandboxclaims", { ...kind, metadata: metadata(name, "killed"), spec: { lifecycle } });
    }
    cluster.finish(`${warmPool}-1`);
    await openPlacement({ kind: "kubernetes", kubernetes: { image, kubeconfig, warmPool }, closed: [] });
    expect(cluster.objects("sandboxclaims").map(({ metadata: { name } }) => name)).toEqual(["running"]);
    expect(remains(cluster)).toEqual([`${warmPool}-1`, `${warmPool}-1`]);
  });

  it("refuses pods with a network, and an image of another version", async () => {
    const { cluster, kubeconfig } = await startCluster();
    // Without a NetworkPolicy, pods reach the API server.
    expect(await examineKubernetes({ image, kubeconfig }, { closedWithinMs: 200 })).toEqual({
      works: false,
      reason: expect.stringMatching(
        /reach 127\.0\.0\.1:\d+, also [\d.]+ s after their start, and must have no network.*NetworkPolicy/,
      ) as string,
    });
    // A watch that goes on would keep a failed start alive.
    await expect.poll(() => cluster.watches).toBe(0);
    const other = openPlacement({ kind: "kubernetes", kubernetes: { image, kubeconfig }, closed: [], standIn: "fine" });
    await expect(other).rejects.toThrow(/has no instance program/);
  });

  it("waits for the network plugin to close the network of pods", async () => {
    const probed = await startDoor();
    const { cluster, placement } = await open({ closed: [probed.address], sandboxes: false });
    // The plugin needs one more moment for the pod of the session than for its container.
    const door = await startDoor();
    cluster.addressForPods = door.address;
    const instance = await placement.acquire(assign);
    expect([probed.tries(), door.tries()]).toEqual([1, 1]);
    await instance.stop();
  });

  it("starts a session whose pod is unreachable at first", async () => {
    const serverPod = "shoal-0/0f1e2d3c-0000-4000-8000-000000000000";
    const { cluster, placement } = await open({ sandboxes: false, serverPod });
    cluster.unreachableMs = 1_000;
    const instance = await placement.acquire(assign);
    const [name, uid] = serverPod.split("/");
    // So that the cluster deletes it after the server.
    expect(cluster.objects("pods")[0]?.metadata.ownerReferences).toEqual([
      { apiVersion: "v1", kind: "Pod", name, uid },
    ]);
    await instance.stop();
  });

  it.each([
    ["pods", () => open({ sandboxes: false })],
    ["claims", () => openClaims(0)],
  ])("names the cause when the API server stops answering: %s", async (_objects, start) => {
    const { cluster, placement } = await start();
    cluster.vanish();
    await expect(placement.acquire(assign)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/API server does not answer: .*ECONNREFUSED/) as string,
    });
  });

  it("says that it finds no cluster", async () => {
    vi.stubEnv("KUBECONFIG", undefined);
    vi.stubEnv("HOME", await temporaryDirectory());
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect(await examineKubernetes({ image })).toEqual({
      works: false,
      reason: expect.stringContaining("neither a kubeconfig nor the service account") as string,
    });
  });

  it.each([
    ["sandboxes", undefined, "kubernetes.yaml"],
    ["sandboxclaims", warmPool, "kubernetes-claims.yaml"],
  ])("names the right to %s that the service account lacks", async (withheld, pool, manifests) => {
    const { cluster, kubeconfig } = await startCluster({ claims: pool !== undefined });
    cluster.withheld = withheld;
    const kubernetes = { image, kubeconfig, ...(pool !== undefined && { warmPool: pool }) };
    const refused = openPlacement({ kind: "kubernetes", kubernetes, closed: [] });
    const problem = RegExp(
      `lacks a right \\(.*may not GET .*/${withheld}\\)\\. It needs the Role of docs/service/${manifests},`,
    );
    await expect(refused).rejects.toMatchObject({
      code: "bad_option",
      message: expect.stringMatching(problem) as string,
    });
  });

  it("refuses a cluster that does not accept its credentials", async () => {
    const kubeconfig = join(await temporaryDirectory(), "kubeconfig");
    await writeFile(kubeconfig, (await startCluster()).cluster.kubeconfig.replace("fake-token", "wrong"));
    const refused = openPlacement({ kind: "kubernetes", kubernetes: { image, kubeconfig }, closed: [] });
    await expect(refused).rejects.toMatchObject({
      code: "bad_option",
      message: expect.stringMatching(/does not accept the credentials.*status 401/) as string,
    });
  });
});
