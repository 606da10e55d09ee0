import { ApiError } from "@shoal/client";
import { examine } from "@shoal/server";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { type FakeCluster, startFakeCluster } from "../testing/fake-cluster.ts";
import { firstPageOf } from "../testing/page.ts";
import { runService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `shoal serve with a claimed pod for each session${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    let cluster: FakeCluster;
    let site: Site;
    let test: Awaited<ReturnType<typeof runService>>;
    beforeAll(async () => {
      [cluster, site] = await Promise.all([startFakeCluster(), serveSite()]);
      test = await runService([
        ...["--placement", "kubernetes", "--kubernetes-kubeconfig", cluster.kubeconfig],
        ...["--kubernetes-warm-pool", "shoal-sessions", "--kubernetes-image", "registry.example/shoal:1"],
        ...["--allow-private-hosts", site.host],
      ]);
    });
    afterAll(async () => {
      await test.end();
      expect(await cluster.names()).toEqual([]);
      await Promise.all([cluster.end(), site.close()]);
    });

    it("creates a session, drives its page over CDP, stores files, and deletes the claim and the pod at its end", async () => {
      const { shoal } = test;
      expect(await cluster.names()).toEqual([]);
      const session = await shoal.browsers.create({ viewport: { width: 900, height: 600 } });
      const { session_id: id } = session;
      expect(session).toMatchObject({ placement: "kubernetes", headless: true });
      const [claim, sandbox, pod] = await cluster.names();
      expect(claim).toMatch(/^shoal-/);
      expect([sandbox, pod]).toEqual([claim, claim]);

      const client = await chromium.connectOverCDP(session.cdp_ws_url);
      const page = await firstPageOf(client);
      await page.goto(`${site.url}in-a-pod`);
      expect(await page.title()).toBe("/in-a-pod");
      expect(await page.evaluate(() => [innerWidth, innerHeight])).toEqual([900, 600]);
      // The egress gateway of the service decides, not the network of the pod.
      await expect(page.goto(site.url.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow("net::ERR_");
      await client.close();

      const bytes = crypto.getRandomValues(new Uint8Array(50_000));
      const path = "/home/shoal/Downloads/random.bin";
      await shoal.browsers.fs.writeFile(id, bytes, { path });
      const read = await shoal.browsers.fs.readBytes(id, { path });
      expect(Buffer.compare(Buffer.from(read), bytes)).toBe(0);
      const { stdout } = await shoal.browsers.process.run(id, { command: "id", args: ["-u"] });
      expect(stdout).toBe("64987\n");

      await shoal.browsers.delete(id);
      await expect.poll(() => cluster.names()).toEqual([]);
      const error: unknown = await shoal.browsers.get(id).catch((reason: unknown) => reason);
      expect(ApiError.isInstance(error) && error.status).toBe(404);
    });

    it("doctor examines a pod, and compares nothing with the machine of the service", async () => {
      const env = {
        SHOAL_PLACEMENT: "kubernetes",
        SHOAL_KUBERNETES_KUBECONFIG: cluster.kubeconfig,
        SHOAL_KUBERNETES_IMAGE: "registry.example/shoal:1",
        SHOAL_KUBERNETES_WARM_POOL: "shoal-sessions",
      };
      const findings = await examine({ env });
      expect(findings).toContainEqual({
        ...{ name: "isolation", state: "ok" },
        detail: expect.stringContaining("in a pod of registry.example/shoal:1") as string,
      });
      const texts = findings
        .filter(({ name }) => ["isolation", "inner_sandbox", "windows", "sleep", "warm"].includes(name))
        .map(({ advice, detail }) => `${detail} ${advice ?? ""}`)
        .join("\n");
      expect(texts).not.toMatch(/this host|container|MiB are available/);
      expect(texts).toContain("1 browser waits for sessions (warm: auto), not in the memory of this machine.");
    });

    it("deletes the claims and pods of running sessions when the service stops", async () => {
      await test.shoal.browsers.create();
      expect(await cluster.names()).toHaveLength(3);
    });
  },
);
