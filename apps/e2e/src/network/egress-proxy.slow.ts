import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PasswordProxy, startPasswordProxy } from "../testing/password-proxy.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { zipOf } from "../testing/zip.ts";

let site: Site;
let proxy: PasswordProxy;
beforeAll(async () => {
  proxy = await startPasswordProxy("office", "p@ss");
  site = await serveSite((request, response) => {
    response.writeHead(request.headers.host?.startsWith("registry.") === true ? 404 : 200, {
      "content-type": "text/html",
    });
    response.end(`<title>page of ${request.headers.host ?? ""}</title>`);
  });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await site.close();
});

const portOf = () => new URL(site.url).port;
const test = useService(() => [
  ...["--egress-proxy", proxy.url.replace("://", "://office:p%40ss@"), "--egress-proxy-bypass", "*.office.example"],
  ...["--allow-private-hosts", site.host, "--build-registry", `http://registry.example:${portOf()}`],
]);

it("leads sessions to the internet by the proxy of the machine, and to private hosts directly", async () => {
  await using session = await test.shoal.browsers.create();
  const connected = await chromium.connectOverCDP(session.cdp_ws_url);
  const page = await connected.newPage();
  // Only the proxy knows this name.
  await page.goto(`http://far.example:${portOf()}/`);
  expect(await page.title()).toBe(`page of far.example:${portOf()}`);
  const { stdout } = await test.shoal.browsers.process.run(session.session_id, {
    command: "curl",
    args: ["-s", `http://program.example:${portOf()}/`],
  });
  expect(stdout).toContain("page of program.example");
  const asked = proxy.asked.filter((host) => host.endsWith(`.example:${portOf()}`));
  expect(new Set(asked)).toEqual(new Set([`far.example:${portOf()}`, `program.example:${portOf()}`]));

  const before = proxy.asked.length;
  await page.goto(site.url);
  expect(await page.title()).toBe(`page of ${site.host}`);
  await expect(page.goto(`http://unknown.office.example:${portOf()}/`)).rejects.toThrow(/ERR_/);
  expect(proxy.asked.slice(before)).toEqual([]);
  await connected.close();
});

it("leads builds to the registry by the proxy, and shows neither app nor page its password", async () => {
  const archive = await zipOf([
    { name: "package.json", content: '{"type":"module","dependencies":{"left-pad":"1.3.0"}}' },
    { name: "index.js", content: 'import "left-pad";' },
  ]);
  const { id } = await test.shoal.deployments.create({ file: new Blob([archive]), entrypoint_rel_path: "index.js" });
  await test.shoal.deployments.wait(id).catch(() => undefined);
  const deployment = await test.shoal.deployments.get(id);
  expect(deployment).toMatchObject({ status: "failed", status_reason: expect.stringContaining("404") as unknown });
  expect(proxy.asked).toContain(`registry.example:${portOf()}`);
  expect(JSON.stringify(deployment)).not.toMatch(/p%40ss|p@ss/);
});
