import type { Shoal } from "@shoal/client";
import { createServer, type Server } from "node:http";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { vendored } from "../testing/app-files.ts";
import { firstPageOf } from "../testing/page.ts";
import { until } from "./until.ts";
import { zipOf } from "../testing/zip.ts";
import { apply, installAgentSandbox, kubectl, node, pause, publicAddress, Release } from "./cluster.ts";

const site = `http://${publicAddress}:8000`;
/** The API server, at its address in the cluster and at that of its node. */
const closed = ["10.96.0.1:443", "10.250.0.2:6443"];
const missing = node === undefined ? " (skipped: npm run kubernetes runs one)" : "";
const small = { requests: { cpu: "100m", memory: "512Mi" }, limits: { memory: "2Gi" } };
const podValues = {
  placement: "kubernetes",
  resources: small,
  config: { max_sessions: 10, session_memory_mb: 1_024, session_disk_mb: 128 },
};

/** A page of a site, files, commands, and no way to the cluster. */
async function useSession(shoal: Shoal): Promise<void> {
  const { cdp_ws_url: address, session_id: id } = await shoal.browsers.create({});
  const browser = await chromium.connectOverCDP(address);
  const page = await firstPageOf(browser);
  await page.goto(`${site}/shelf`);
  expect(await page.title()).toBe("/shelf");
  for (const host of closed) await expect(page.goto(`https://${host}/version`)).rejects.toThrow("net::");
  await browser.close();
  const content = new Uint8Array(3_000_000).map((_, index) => index % 251);
  const path = "/home/shoal/Downloads/file.bin";
  await shoal.browsers.fs.writeFile(id, content, { path });
  expect(Buffer.from(await shoal.browsers.fs.readBytes(id, { path })).equals(content)).toBe(true);
  const probe = closed.map((host) => `timeout 2 bash -c '</dev/tcp/${host.replace(":", "/")}' && echo open`).join("; ");
  const { stdout } = await shoal.browsers.process.run(id, { command: "sh", args: ["-c", `id -u; (${probe}) 2>&1`] });
  expect(stdout).not.toContain("open");
  expect(stdout).not.toMatch(/^0$/m);
  await shoal.browsers.delete(id);
}

/** Requests what the node has left, except for half of what a session requests. */
async function fillNode(): Promise<void> {
  const described = await kubectl("describe", "node", "node");
  const allocatable = Number(await kubectl("get", "node", "node", "--output=jsonpath={.status.allocatable.cpu}"));
  const used = Number(/^ +cpu +(\d+)m/m.exec(described)?.[1]);
  await apply({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "filler", namespace: "default", labels: { app: "filler" } } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          ...{ name: "filler", image: "localhost/pause:1" },
          resources: { requests: { cpu: `${String(1_000 * allocatable - used - 50)}m` } },
        },
      ],
    },
  });
  await kubectl("wait", "--for=condition=Ready", "pod/filler", "--timeout=2m");
}

async function endOf(shoal: Shoal, id: string): Promise<string> {
  const { ended_reason: reason, lifecycle } = await until(`session ${id} has ended`, async () => {
    const found = await shoal.browsers.get(id, { include_deleted: true });
    return found.ended_reason === undefined ? undefined : found;
  });
  return `${reason ?? ""}: ${lifecycle?.ended_detail ?? ""}`;
}

describe.skipIf(node === undefined)(`a Kubernetes node${missing}`, () => {
  let server: Server;
  beforeAll(() => {
    server = createServer(({ url = "" }, response) => {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(`<!doctype html><title>${url.replace(/[^\w/]/g, "")}</title>`);
    }).listen(8_000, publicAddress);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  describe("with a pod for each session", () => {
    const release = new Release("pods");
    let shoal: Shoal;
    let baseUrl: string;
    const podOf = async (): Promise<{ readonly id: string; readonly name: string }> => {
      const { session_id: id } = await shoal.browsers.create({});
      const page = (await shoal.browsers.get(id)).cdp_ws_url;
      const browser = await chromium.connectOverCDP(page);
      await browser.close();
      const name = (await release.pods("session")).map(({ metadata }) => metadata.name).at(-1) ?? "";
      return { id, name };
    };
    beforeAll(async () => {
      // Each session gets a new pod, so that its pod is the only one.
      await release.apply({ ...podValues, config: { ...podValues.config, warm: 0 } });
      ({ baseUrl, shoal } = await release.connect());
    });
    afterAll(async () => {
      await release.uninstall().catch(() => undefined);
    });

    it("is installed, and passes helm test", async () => {
      expect(await release.test()).toContain("Succeeded");
      expect(await kubectl("logs", "shoal-0", "--namespace", release.namespace)).toContain("network_closed_after_ms");
    });

    it("runs sessions one after another and at once, and removes their pods", async () => {
      await useSession(shoal);
      await Promise.all([useSession(shoal), useSession(shoal), useSession(shoal)]);
      await release.noSessionPods();
    });

    it("provides a session with more memory than the container of the server has", async () => {
      const { session_id: id } = await shoal.browsers.create({ memory: "4GiB" });
      const files = "/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes";
      const command = { command: "sh", args: ["-c", `cat ${files} 2>/dev/null`] };
      await expect
        .poll(async () => (await shoal.browsers.process.run(id, command)).stdout.trim())
        .toBe(String(4 * 2 ** 30));
      await shoal.browsers.delete(id);
    });

    it("builds and runs an app in pods", async () => {
      const archive = await zipOf(
        Object.entries({
          "package.json": JSON.stringify({ name: "greeter", private: true, type: "module" }),
          "index.ts": `
import { app } from "@shoal/client/app";
app("greeter").action("greet", async (_, { name }) => ({ text: "Hello, " + name }));`,
          ...(await vendored(["@shoal/client", "@shoal/client/app"])),
        }).map(([name, content]) => ({ name, content })),
      );
      const file = new File([archive], "app.zip");
      const { id } = await shoal.deployments.create({ file, entrypoint_rel_path: "index.ts" });
      for await (const event of shoal.deployments.follow(id))
        if (event.event === "deployment_state" && /running|failed/.test(event.deployment.status)) {
          expect(event.deployment).toMatchObject({ status: "running" });
          break;
        }
      const call = { app_name: "greeter", action_name: "greet", version: "latest", payload: '{"name":"you"}' };
      expect((await shoal.invocations.create(call)).output).toBe('{"text":"Hello, you"}');
      await shoal.deployments.delete(id);
    });

    it("ends a session with the reason when its pod is deleted, killed or evicted", async () => {
      const deleted = await podOf();
      await kubectl("delete", "pod", deleted.name, "--namespace", release.namespace, "--wait=false");
      expect(await endOf(shoal, deleted.id)).toBe(
        `instance_lost: Pod ${deleted.name}: it was deleted outside of the service.`,
      );
      const killed = await podOf();
      await kubectl("delete", "pod", killed.name, "--namespace", release.namespace, "--force", "--grace-period=0");
      expect(await endOf(shoal, killed.id)).toContain("it was deleted outside of the service");
      const evicted = await podOf();
      await release.evict(evicted.name);
      expect(await endOf(shoal, evicted.id)).toContain("EvictionByEvictionAPI");
      await release.noSessionPods();
    });

    it.each([
      { state: "cordoned", reason: "unschedulable", begin: () => kubectl("cordon", "node") },
      { state: "full", reason: "Insufficient cpu", begin: fillNode },
    ])("answers with the scheduler's reason while the node is $state", async ({ begin, reason }) => {
      // The pod of an earlier session would leave its place.
      await release.noSessionPods();
      await begin();
      try {
        await expect(shoal.browsers.create({})).rejects.toMatchObject({
          status: 529,
          code: "capacity_exhausted",
          message: expect.stringContaining(reason) as string,
          retryAfterMs: expect.any(Number) as number,
        });
      } finally {
        await kubectl("uncordon", "node");
        await kubectl("delete", "pods", "--selector=app=filler");
      }
      await release.noSessionPods();
      await useSession(shoal);
    });

    it("keeps sessions while the API server is away, and says that it does not answer", async () => {
      const { session_id: id } = await shoal.browsers.create({});
      const resume = pause("kube-apiserver");
      try {
        const { stdout } = await shoal.browsers.process.run(id, { command: "echo", args: ["here"] });
        expect(stdout).toBe("here\n");
        await expect(shoal.browsers.create({})).rejects.toMatchObject({ status: 503, code: "not_ready" });
      } finally {
        resume();
      }
      await shoal.browsers.delete(id);
      await useSession(shoal);
    });

    it("recovers after its server was killed or its pod deleted, and the pods of its sessions go", async () => {
      const killed = await podOf();
      await release.killServer(baseUrl);
      expect(await endOf(shoal, killed.id)).toContain("instance_lost");
      await release.noSessionPods();
      const deleted = await podOf();
      await release.replaceServer(baseUrl, "--force", "--grace-period=0");
      expect(await endOf(shoal, deleted.id)).toMatch(/^(?:instance_lost|server_stopped)/);
      await release.noSessionPods();
      await useSession(shoal);
    });

    it("moves to a drained node's successor with its data", async () => {
      const { name } = await shoal.profiles.create({ name: "kept" });
      await kubectl("drain", "node", "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=180s");
      await release.noSessionPods();
      await kubectl("uncordon", "node");
      await release.ready(baseUrl);
      expect((await shoal.profiles.get("kept")).name).toBe(name);
      await useSession(shoal);
    });

    it("is upgraded, with a changed setting", async () => {
      await release.apply({ ...podValues, config: { ...podValues.config, warm: 0, max_sessions: 1 } });
      await release.ready(baseUrl);
      await useSession(shoal);
      const { session_id: id } = await shoal.browsers.create({});
      await expect(shoal.browsers.create({})).rejects.toMatchObject({ status: 529 });
      await shoal.browsers.delete(id);
    });

    it("leaves no pod of a session when it is uninstalled", async () => {
      await shoal.browsers.create({});
      await release.uninstall();
      await release.noSessionPods();
      await expect.poll(() => release.pods("server")).toEqual([]);
    });
  });

  describe("without an enforced policy", () => {
    const release = new Release("open");
    afterAll(async () => {
      await release.uninstall().catch(() => undefined);
    });

    it("ends a failed start, and starts when pods have no network", async () => {
      const container = ["get", "pod", "shoal-0", "--namespace", release.namespace, "--output"];
      const exits = (): Promise<string> =>
        kubectl(...container, "jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}").catch(() => "");
      await release.start({ ...podValues, networkPolicy: { enabled: false } });
      await expect.poll(exits).toMatch(/^[1-9]/);
      const log = await kubectl("logs", "shoal-0", "--namespace", release.namespace, "--previous");
      expect(log).toContain("Pods of sessions reach");
      await release.noSessionPods();
      await release.apply(podValues);
    });
  });

  describe("with a Sandbox of agent-sandbox for each session", () => {
    const release = new Release("sandboxed");
    afterAll(async () => {
      await release.uninstall().catch(() => undefined);
    });

    it("runs sessions, and removes their sandboxes, also after a kill of the server", async () => {
      await installAgentSandbox();
      await release.apply(podValues);
      const { baseUrl, shoal } = await release.connect();
      const sandboxes = (): Promise<string> =>
        kubectl("get", "sandboxes", "--namespace", release.namespace, "--output=name");
      await useSession(shoal);
      await Promise.all([useSession(shoal), useSession(shoal), useSession(shoal)]);
      const { session_id: id } = await shoal.browsers.create({});
      expect(await sandboxes()).toContain("sandbox.agents.x-k8s.io/shoal-");
      const [lost] = (await sandboxes()).trim().split("\n");
      await release.killServer(baseUrl);
      expect(await endOf(shoal, id)).toContain("instance_lost");
      await until("the sandbox is deleted", async () => !(await sandboxes()).includes(lost ?? ""), 240_000);
      await useSession(shoal);
      await release.uninstall();
      await expect.poll(sandboxes).toBe("");
      await release.noSessionPods();
    });
  });

  describe("with claims of waiting pods, in a namespace with the level restricted", () => {
    const release = new Release("claiming", "claimed");
    const values = {
      ...podValues,
      kubernetes: { namespace: release.sessions, claims: { enabled: true, waitingPods: 2 } },
    };
    afterAll(async () => {
      await release.uninstall().catch(() => undefined);
    });

    it("runs sessions in claimed pods, and deletes them", async () => {
      await installAgentSandbox();
      await apply({
        ...{ apiVersion: "v1", kind: "Namespace" },
        metadata: { name: release.sessions, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
      });
      await release.apply(values);
      expect(await release.test()).toContain("Succeeded");
      const { shoal } = await release.connect();
      await useSession(shoal);
      await Promise.all([useSession(shoal), useSession(shoal), useSession(shoal)]);
      const { session_id: id } = await shoal.browsers.create({});
      const claims = (): Promise<string> =>
        kubectl("get", "sandboxclaims", "--namespace", release.sessions, "--output=name");
      const claim = `sandboxclaim.extensions.agents.x-k8s.io/shoal-`;
      expect(await claims()).toContain(claim);
      await kubectl("delete", "sandboxclaims", "--all", "--namespace", release.sessions);
      expect(await endOf(shoal, id)).toMatch(/^instance_lost: Pod shoal-\w+: it was deleted outside of the service\.$/);
    });

    it("leaves nothing after it is uninstalled and the documented command has run", async () => {
      await release.uninstall();
      await kubectl(
        ...["delete", "--namespace", release.sessions, "sandboxclaims,pods"],
        ...["--selector", "app.kubernetes.io/managed-by=shoal,shoal.dev/part=session"],
      );
      await release.noSessionPods();
    });
  });

  describe("with sandboxes in the pod of the server, by the default values", () => {
    const release = new Release("sandboxes");
    afterAll(async () => {
      await release.uninstall().catch(() => undefined);
    });

    it("runs sessions, and keeps its data when its pod is replaced", async () => {
      const values = { sandbox: { seccompProfile: { install: true } }, resources: small, config: { max_sessions: 4 } };
      await release.apply(values);
      expect(await release.test()).toContain("Succeeded");
      const { baseUrl, shoal } = await release.connect();
      await useSession(shoal);
      await shoal.profiles.create({ name: "kept" });
      await release.replaceServer(baseUrl);
      expect((await shoal.profiles.get("kept")).name).toBe("kept");
      await useSession(shoal);
    });
  });
});
