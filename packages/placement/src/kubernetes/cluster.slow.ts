import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { temporaryDirectory } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { Cluster } from "./cluster.ts";
import type { Pod } from "./objects.ts";
import { labels, podSpec, sessionObject } from "./pod-spec.ts";

const run = promisify(execFile);
const manifests = join(import.meta.dirname, "../../../../docs/service/kubernetes.yaml");
const namespace = "browsers";
const selector = `${labels.server}=one`;
const spec = podSpec({
  ...{ image: "localhost/shoal", runtimeClass: undefined, command: ["true"], env: { A: "b" } },
  ...{ memoryBytes: 2 ** 30, diskBytes: 2 ** 30 },
});
const object = (name: string) =>
  sessionObject({
    ...{ name, namespace, spec, shutdownTime: undefined },
    labels: { [labels.server]: "one", [labels.part]: "session" },
  });

/** The controller creates it after the account. */
async function tokenOf(account: string): Promise<string> {
  for (;;) {
    const secrets = JSON.parse(await kubectl("get", "secrets", "--namespace", namespace, "--output=json")) as {
      items: { metadata: { name: string }; data: { token: string } }[];
    };
    const secret = secrets.items.find(({ metadata }) => metadata.name.startsWith(`${account}-token`));
    if (secret !== undefined) return Buffer.from(secret.data.token, "base64").toString();
    await sleep(100);
  }
}

async function kubectl(...args: string[]): Promise<string> {
  return (await run("kubectl", args)).stdout;
}

describeWith(["cluster"], "a real API server, with the rights of docs/service/kubernetes.yaml", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    await kubectl("create", "namespace", namespace);
    await kubectl("apply", "--namespace", namespace, "--filename", manifests);
    const folder = await temporaryDirectory();
    const config = JSON.parse(await kubectl("config", "view", "--raw", "--flatten", "--output=json")) as {
      users: { user: object }[];
    };
    const token = await tokenOf("shoal");
    for (const entry of config.users) entry.user = { token };
    await writeFile(join(folder, "kubeconfig"), JSON.stringify(config), { mode: 0o600 });
    cluster = await Cluster.open(join(folder, "kubeconfig"), namespace);
  }, 60_000);

  it("creates, finds, follows and deletes pods, and has no other rights", async () => {
    expect(await cluster.version()).toMatch(/^v/);
    expect(await cluster.hasSandboxes()).toBe(false);
    const seen: string[] = [];
    const stop = cluster.follow("pods", selector, (pod: Pod, isGone) =>
      seen.push(`${pod.metadata?.name ?? ""} ${isGone ? "gone" : "there"}`),
    );
    await cluster.create(object("session-1"));
    await expect.poll(() => seen).toContain("session-1 there");
    expect((await cluster.pods(selector)).map(({ metadata }) => metadata?.name)).toEqual(["session-1"]);
    await expect(cluster.create(object("session-1"))).rejects.toMatchObject({ status: 409 });
    const { metadata: _metadata, ...rest } = object("session-2");
    await expect(
      cluster.create({ ...rest, metadata: { name: "session-2", namespace: "default" } }),
    ).rejects.toMatchObject({ status: 403 });
    await cluster.remove(object("session-1"), 0);
    await expect.poll(() => seen).toContain("session-1 gone");
    await cluster.remove(object("session-1"), 0);
    stop();
  });
});
