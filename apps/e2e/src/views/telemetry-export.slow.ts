import { eventually } from "@shoal/testkit";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const run = promisify(execFile);
const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");
const secret = "s3cret-of-a-collector";
/** Requests to the collector; protobuf contains texts verbatim. */
const collected: { readonly path: string; readonly authorization: string; readonly text: string }[] = [];
let site: Site;
let home: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "shoal-home-"));
  site = await serveSite((request, response) => {
    if (!request.url?.endsWith("/v1/logs")) {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end("<title>page</title><script>console.error('heard of the page')</script>");
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      collected.push({
        path: request.url ?? "",
        authorization: request.headers.authorization ?? "",
        text: Buffer.concat(chunks).toString("latin1"),
      });
      response.writeHead(200).end();
    });
  });
});
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await site.close();
});

describe.each(placements)("telemetry of the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("that is exported", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", site.host]);

    it("reaches a destination made with the command line, whose secrets cannot be read again", async () => {
      const { shoal, service } = test;
      const env = {
        HOME: home,
        PATH: process.env.PATH ?? "",
        SHOAL_CONFIG_DIR: home,
        SHOAL_KEYCHAIN: "0",
        SHOAL_API_KEY: service.apiKey,
        SHOAL_BASE_URL: service.baseUrl,
        NO_COLOR: "1",
      };
      const shell = async (...args: string[]) => (await run(process.execPath, [command, ...args], { env })).stdout;
      const endpoint = `${site.url}${placement}`;
      const made = await shell(
        "telemetry",
        "destinations",
        "create",
        "--name",
        "collector",
        "--endpoint",
        endpoint,
        "--header",
        `authorization=Bearer ${secret}`,
        "-o",
        "json",
      );
      expect(JSON.parse(made)).toMatchObject({ name: "collector", endpoint, headers: { authorization: "" } });

      const { session_id: id, telemetry } = await shoal.browsers.create({
        telemetry: { browser: { console: {} }, export: { otlp: { destination: { name: "collector" } } } },
        start_url: site.url,
      });
      expect(telemetry?.export?.otlp).toMatchObject({ enabled: true });
      const mine = () => collected.filter(({ path, text }) => path === `/${placement}/v1/logs` && text.includes(id));
      await eventually("the page's words have arrived", () =>
        mine().some(({ text }) => text.includes("heard of the page") && text.includes("console_error")),
      );
      expect(mine()[0]?.authorization).toBe(`Bearer ${secret}`);
      expect(await refusalOf(shoal.telemetry.destinations.delete("collector"))).toMatchObject({
        status: 409,
        code: "conflict",
        message: expect.stringContaining(id) as unknown,
      });
      await shoal.browsers.delete(id);
      expect(await shell("telemetry", "destinations", "list")).not.toContain(secret);
      await shell("telemetry", "destinations", "delete", "collector", "--yes");
      expect((await shoal.telemetry.destinations.list()).items).toEqual([]);
    });
  });
});
