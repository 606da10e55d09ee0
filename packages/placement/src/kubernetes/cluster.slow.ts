import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { temporaryDirectory } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { checkTemplate, claimObject } from "./claims.ts";
import { Cluster } from "./cluster.ts";
import type { ClusterObject, KindName } from "./objects.ts";
import { labels, podSpec, sessionObject } from "./pod-spec.ts";

const run = promisify(execFile);
const chart = join(import.meta.dirname, "../../../../tools/chart.mjs");
const namespace = "browsers";
const selector = `${labels.server}=one`;
const spec = podSpec({
  ...{ image: "localhost/shoal", runtimeClass: undefined, command: ["true"], env: { A: "b" } },
  ...{ memoryBytes: 2 ** 30, diskBytes: 2 ** 30 },
});
const object = (name: string, shutdownTime?: Date) =>
  sessionObject({
    ...{ name, namespace, spec, shutdownTime },
    labels: { [labels.server]: "one", [labels.part]: "session" },
  });

const claim = (shutdownTime: Date) =>
  claimObject({
    ...{ name: "session-1", namespace, warmPool: "shoal-sessions", pin: "0".repeat(64), shutdownTime },
    labels: { [labels.server]: "one", [labels.part]: "session" },
  });
const extensionsGroup = "extensions.agents.x-k8s.io";

function shutdownOf({ spec }: ClusterObject): string | undefined {
  const { lifecycle, shutdownTime } = (spec ?? {}) as { shutdownTime?: string; lifecycle?: { shutdownTime?: string } };
  return shutdownTime ?? lifecycle?.shutdownTime;
}

async function kubectl(...args: string[]): Promise<string> {
  return (await run("kubectl", args)).stdout;
}

async function chartObjects(values: object): Promise<string> {
  const rendering = run(process.execPath, [chart, "--print", "shoal", namespace]);
  rendering.child.stdin?.end(JSON.stringify(values));
  return (await rendering).stdout;
}

/** Applies text, and refuses fields that the API server does not know. */
async function apply(objects: string, ...args: string[]): Promise<string> {
  const applying = run("kubectl", ["apply", "--validate=strict", "--filename", "-", ...args]);
  applying.child.stdin?.end(objects);
  return (await applying).stdout;
}

/** A custom resource without a schema. */
function definition(group: string, version: string, kind: string, plural: string): string {
  return JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: "Namespaced", names: { kind, plural, singular: kind.toLowerCase() } },
      versions: [
        {
          ...{ name: version, served: true, storage: true },
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  });
}

async function define(...definitions: readonly (readonly [string, string, string, string])[]): Promise<void> {
  await apply(definitions.map((each) => definition(...each)).join("\n"));
  for (const [group, , , plural] of definitions)
    await kubectl("wait", "--for=condition=Established", "--timeout=30s", `crd/${plural}.${group}`);
}

const external = {
  database: { external: true },
  secrets: {
    values: {
      SHOAL_DATABASE_URL: "postgres://x/y",
      SHOAL_SECRET_KEY: "k".repeat(32),
      SHOAL_METRICS_TOKEN: "t".repeat(16),
      SHOAL_BLOB_STORE_URL: "s3://x/y",
    },
  },
};
/** Everything that the chart can make. */
const allOfIt = {
  ...external,
  placement: "kubernetes",
  blobStore: { external: true },
  metrics: {
    enabled: true,
    serviceMonitor: { enabled: true },
    alerts: { enabled: true },
    dashboard: { enabled: true },
  },
  ingress: { enabled: true, tlsSecret: "certificate", from: [{ namespaceSelector: {} }] },
  autoscaling: { enabled: true },
};

describeWith(["cluster"], "a real API server, with the Helm chart", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    await kubectl("create", "namespace", namespace);
    await define(
      ["monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"],
      ["monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"],
    );
    await apply(await chartObjects(allOfIt));
    const folder = await temporaryDirectory();
    const config = JSON.parse(await kubectl("config", "view", "--raw", "--flatten", "--output=json")) as {
      users: { user: object }[];
    };
    const token = (await kubectl("create", "token", "shoal", "--namespace", namespace)).trim();
    for (const entry of config.users) entry.user = { token };
    await writeFile(join(folder, "kubeconfig"), JSON.stringify(config), { mode: 0o600 });
    cluster = await Cluster.open(join(folder, "kubeconfig"), namespace);
  });

  it("accepts each object for servers with sandboxes", async () => {
    const values = { sandbox: { seccompProfile: { install: true } } };
    const accepted = await apply(await chartObjects(values), "--dry-run=server");
    expect(accepted.trim().split("\n")).toHaveLength(10);
    const misspelled = (await chartObjects({})).replace("readinessProbe:", "readyProbe:");
    await expect(apply(misspelled, "--dry-run=server")).rejects.toThrow(/unknown field .*readyProbe/);
  });

  it("starts servers from the StatefulSet", async () => {
    await expect.poll(() => kubectl("get", "pods", "--namespace", namespace, "--output=name")).toContain("pod/shoal-0");
  });

  it("grants servers the rights for pods of sessions, and no others", async () => {
    expect(await rights()).toEqual([
      "pods [create get list watch delete]",
      "pods/log [get]",
      "pods/resize [patch]",
      "sandboxes.agents.x-k8s.io [create get list watch patch delete]",
    ]);
    const account = `--as=system:serviceaccount:${namespace}:shoal`;
    const elsewhere = await kubectl("auth", "can-i", "--list", "--no-headers", account, "--namespace", "default");
    expect(elsewhere).not.toContain("pods");
  });

  it("creates, finds, follows and deletes pods, and has no other rights", async () => {
    expect(await cluster.version()).toMatch(/^v/);
    expect(await cluster.serves("sandboxes")).toBe(false);
    await lifeOf("pods", undefined);
    const { metadata: _metadata, ...rest } = object("session-2");
    await expect(
      cluster.create({ ...rest, metadata: { name: "session-2", namespace: "default" } }),
    ).rejects.toMatchObject({ status: 403 });
  });

  it("creates, finds, follows, renews and deletes sandboxes of agent-sandbox", async () => {
    await define(["agents.x-k8s.io", "v1beta1", "Sandbox", "sandboxes"]);
    await expect.poll(() => cluster.serves("sandboxes")).toBe(true);
    const shutdownTime = new Date(Date.now() + 60_000);
    await lifeOf("sandboxes", shutdownTime);
  });

  it("checks the template of the chart, and creates, renews and deletes claims, with the rights for them", async () => {
    expect(await cluster.serves("sandboxclaims")).toBe(false);
    await define(
      [extensionsGroup, "v1beta1", "SandboxClaim", "sandboxclaims"],
      [extensionsGroup, "v1beta1", "SandboxTemplate", "sandboxtemplates"],
      [extensionsGroup, "v1beta1", "SandboxWarmPool", "sandboxwarmpools"],
    );
    const kubernetes = { image: "localhost/shoal:1", claims: { enabled: true } };
    await apply(await chartObjects({ ...external, placement: "kubernetes", kubernetes }));
    await expect.poll(() => cluster.serves("sandboxclaims")).toBe(true);
    const options = { cluster, warmPool: "shoal-sessions", image: "localhost/shoal:1", runtimeClass: undefined };
    await checkTemplate(options);
    await expect(checkTemplate({ ...options, image: "localhost/shoal:2" })).rejects.toThrow(/has the image/);
    expect(await rights()).toEqual([
      "pods [create get list watch delete]",
      "pods/log [get]",
      "pods/resize [patch]",
      "sandboxclaims.extensions.agents.x-k8s.io [create list watch patch delete]",
      "sandboxtemplates.extensions.agents.x-k8s.io [get]",
      "sandboxwarmpools.extensions.agents.x-k8s.io [get]",
    ]);
    await lifeOf("sandboxclaims", new Date(Date.now() + 60_000));
  });

  async function lifeOf(kind: KindName, shutdownTime: Date | undefined): Promise<void> {
    const seen: string[] = [];
    const stop = cluster.follow(kind, selector, (found, isGone) =>
      seen.push(`${found.metadata?.name ?? ""} ${isGone ? "gone" : (shutdownOf(found) ?? "there")}`),
    );
    const made =
      kind === "sandboxclaims" && shutdownTime !== undefined ? claim(shutdownTime) : object("session-1", shutdownTime);
    await cluster.create(made);
    await expect.poll(() => seen).toContain(`session-1 ${shutdownTime?.toISOString() ?? "there"}`);
    const found = await cluster.list(kind, selector);
    expect(found.map(({ metadata }) => metadata?.name)).toEqual(["session-1"]);
    await expect(cluster.create(made)).rejects.toMatchObject({ status: 409 });
    if (shutdownTime !== undefined) {
      const later = new Date(shutdownTime.getTime() + 60_000).toISOString();
      const spec = kind === "sandboxclaims" ? { lifecycle: { shutdownTime: later } } : { shutdownTime: later };
      await cluster.merge({ ...made, spec });
      await expect.poll(() => seen).toContain(`session-1 ${later}`);
      const [renewed] = await cluster.list(kind, selector);
      expect(renewed?.spec).toMatchObject(
        kind === "sandboxclaims"
          ? { lifecycle: { shutdownTime: later, shutdownPolicy: "Delete" }, warmPoolRef: { name: "shoal-sessions" } }
          : { shutdownTime: later, podTemplate: { spec: { restartPolicy: "Never" } } },
      );
    }
    await cluster.remove(made, 0);
    await expect.poll(() => seen).toContain("session-1 gone");
    await cluster.remove(made, 0);
    stop();
  }

  async function rights(): Promise<readonly string[]> {
    const account = `--as=system:serviceaccount:${namespace}:shoal`;
    const granted = await kubectl("auth", "can-i", "--list", "--no-headers", account, "--namespace", namespace);
    return granted
      .split("\n")
      .filter((line) => !/^\s|selfsubject/.test(line) && line !== "")
      .map((line) => line.replaceAll(/\s+/g, " ").replace(" [] [] ", " ").trim())
      .toSorted();
  }
});
