import { eventually } from "@shoal/testkit";
import type { Shoal } from "@shoal/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { vendored } from "../testing/app-files.ts";
import { missingFor } from "../testing/components.ts";
import { startFakeCluster } from "../testing/fake-cluster.ts";
import { startFakeEngine } from "../testing/fake-engine.ts";
import type { FakeHost } from "../testing/fake-host.ts";
import { runService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { zipOf } from "../testing/zip.ts";

const missing = missingFor("sandbox");
const image = "registry.example/shoal:1";

type Host = Pick<FakeHost, "end" | "names"> & { readonly flags: readonly string[] };

async function engine(): Promise<Host> {
  const { address, tlsDir, ...host } = await startFakeEngine();
  const flags = ["--docker-host", address, "--docker-tls-dir", tlsDir, "--docker-image", image];
  return { ...host, flags: ["--placement", "docker", ...flags] };
}

async function cluster(): Promise<Host> {
  const { kubeconfig, ...host } = await startFakeCluster();
  const flags = ["--kubernetes-kubeconfig", kubeconfig, "--kubernetes-image", image];
  return { ...host, flags: ["--placement", "kubernetes", "--kubernetes-warm-pool", "shoal-sessions", ...flags] };
}

const source = `
import { Shoal } from "@shoal/client";
import { app } from "@shoal/client/app";
import { get } from "node:http";
import { text } from "node:stream/consumers";

// \`fetch\` uses no proxy for 127.0.0.1.
const throughProxy = (url) => new Promise((done, fail) => {
  const { hostname, port } = new URL(process.env.HTTP_PROXY);
  const options = { hostname, port, path: url, headers: { host: new URL(url).host } };
  get(options, async (answer) => done({ status: answer.statusCode, body: await text(answer) })).on("error", fail);
});
const shop = app("shop");
shop.action("look", async ({ invocation_id }, { site }) => {
  console.log("looking");
  const browser = await new Shoal().browsers.create({ invocation_id });
  const [{ body }, { status }] = [await throughProxy(site), await throughProxy(site.replace("127.0.0.1", "127.0.0.2"))];
  return { user: process.getuid(), folder: import.meta.dirname, page: body, refused: status, browser: browser.session_id };
});
shop.action("wait", async () => {
  console.log("waiting");
  await new Promise(() => setInterval(() => undefined, 1000));
});
`;

describe.skipIf(missing !== undefined).each([
  { title: "in containers of another machine", startHost: engine },
  { title: "in pods", startHost: cluster },
])(`apps $title${missing === undefined ? "" : ` (skipped: ${missing})`}`, ({ startHost }) => {
  let host: Host;
  let site: Site;
  let test: Awaited<ReturnType<typeof runService>>;
  let shoal: Shoal;
  beforeAll(async () => {
    [host, site] = await Promise.all([startHost(), serveSite()]);
    test = await runService([...host.flags, "--allow-private-hosts", site.host]);
    shoal = test.shoal;
  });
  afterAll(async () => {
    try {
      await test.end();
      await eventually("nothing is left there", async () => (await host.names()).length === 0);
    } finally {
      await Promise.all([host.end(), site.close()]);
    }
  });

  async function deploy(entrypoint: string, files: Readonly<Record<string, string>>): Promise<string> {
    const archive = await zipOf(Object.entries(files).map(([name, content]) => ({ name, content })));
    const file = new File([archive], "app.zip");
    const { id } = await shoal.deployments.create({ file, entrypoint_rel_path: entrypoint });
    let end = "";
    for await (const event of shoal.deployments.follow(id)) {
      if (event.event !== "deployment_state") continue;
      end = `${event.deployment.status} ${event.deployment.status_reason ?? ""}`.trim();
      if (/^(running|failed)/.test(end)) break;
    }
    return end;
  }

  it("are built and invoked there, reach the API, and reach the network through the egress gateway", async () => {
    const files = {
      "package.json": JSON.stringify({ name: "shop", private: true, type: "module" }),
      "index.ts": source,
      ...(await vendored(["@shoal/client", "@shoal/client/app"])),
    };
    expect(await deploy("index.ts", files)).toBe("running");
    // The program that waits for the first invocation.
    await expect.poll(() => host.names()).toHaveLength(1);
    const { output = "", status_reason } = await shoal.invocations.create({
      app_name: "shop",
      action_name: "look",
      version: "latest",
      payload: JSON.stringify({ site: `${site.url}shelf` }),
    });
    const seen = JSON.parse(output === "" ? "null" : output) as { readonly browser: string } | null;
    expect(seen, status_reason ?? "").toEqual({
      user: 64_987,
      folder: "/boot-node",
      page: expect.stringContaining("<title>/shelf</title>") as string,
      refused: 403,
      browser: expect.any(String) as string,
    });
    await shoal.browsers.delete(seen?.browser ?? "");
  });

  it("end when the service stops", async () => {
    const { id } = await shoal.invocations.create({
      app_name: "shop",
      action_name: "wait",
      version: "latest",
      async: true,
    });
    for await (const event of shoal.invocations.follow(id)) if (event.event === "log") break;
    expect((await host.names()).length).toBeGreaterThan(0);
  });
});
