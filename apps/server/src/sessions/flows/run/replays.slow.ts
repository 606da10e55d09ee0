import { Browser, type Flow, FlowRun, RecordedFlow } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { germanNames, siteFlows, type SiteFlow, siteVersions } from "../testing/changing-sites.ts";
import { useFlowServer } from "../testing/flow-server.ts";

const slowAnswerMs = 600;
/** Bodies of submitted forms, by the path of the flow and the version. */
const submitted = new Map<string, string[]>();

const flows = useFlowServer((request, response) => {
  const [, flowName = "", versionName = "", path = ""] = (request.url ?? "").replace(/[?].*/, "").split("/");
  const version = siteVersions[versionName] ?? {};
  const html = siteFlows.find(({ name }) => name === flowName)?.page(path, version);
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    const key = `${flowName}/${versionName}`;
    if (request.method === "POST") submitted.set(key, [...(submitted.get(key) ?? []), body]);
    void (version.slow === true ? delay(slowAnswerMs) : Promise.resolve()).then(() =>
      response.writeHead(html === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" }).end(html),
    );
  });
});
const { call } = flows;

/** Records the actions of an agent on the first version, for any version. */
async function record({ acts, name }: SiteFlow): Promise<Flow> {
  const { session_id: id } = Browser.parse(await call("POST", "/browsers", {}));
  await call("POST", `/browsers/${id}/act`, { type: "navigate", url: `${flows.base}/${name}/v0/` });
  for (const act of acts) await call("POST", `/browsers/${id}/act`, act);
  const { flow, skipped } = RecordedFlow.parse(await call("POST", `/browsers/${id}/flows`, { name }));
  await call("DELETE", `/browsers/${id}`);
  expect(skipped).toEqual([]);
  const parameters = [...flow.parameters, { name: "version", secret: false }];
  await call("PATCH", `/flows/${flow.id}`, { start_url: `${flows.base}/${name}/{{version}}/`, parameters });
  return flow;
}

async function run(flow: Flow, body: object): Promise<FlowRun> {
  let started = FlowRun.parse(await call("POST", `/flows/${flow.id}/runs`, body));
  while (started.status === "running")
    started = FlowRun.parse(await call("GET", `/flows/${flow.id}/runs/${started.id}?wait_seconds=50`));
  return started;
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

it("replays 20 flows on changed sites, and submits nothing twice", async () => {
  const results: { readonly key: string; readonly row: FlowRun["rows"][number] }[] = [];
  for (const siteFlow of siteFlows) {
    const flow = await record(siteFlow);
    const versions = ["v1", "v2", "v3", "v5"];
    const { rows } = await run(flow, { table: versions.map((version) => ({ version })), concurrency: 4 });
    for (const row of rows) results.push({ key: `${siteFlow.name}/${versions[row.index] ?? ""}`, row });
    const german = await run(flow, { parameters: { version: "v4" }, names: germanNames });
    for (const row of german.rows) results.push({ key: `${siteFlow.name}/v4`, row });
    for (const version of [...versions, "v4"]) {
      const bodies = submitted.get(`${siteFlow.name}/${version}`) ?? [];
      expect(bodies.length, `${siteFlow.name}/${version}`).toBeLessThanOrEqual(1);
      for (const body of bodies)
        expect(Object.fromEntries(new URLSearchParams(body)), `${siteFlow.name}/${version}`).toMatchObject(
          Object.fromEntries(new URLSearchParams(siteFlow.submits)),
        );
    }
  }
  const failed = results.filter(({ row }) => row.status !== "succeeded");
  for (const { key, row } of failed) {
    const { divergence, step } = row.steps.at(-1) ?? {};
    print([key, row.status, row.error, step, divergence?.code, divergence?.expected, divergence?.seen].join(" · "));
  }
  const rate = (results.length - failed.length) / results.length;
  print(`${String(results.length - failed.length)} of ${String(results.length)} replays succeeded`);
  expect(rate).toBeGreaterThanOrEqual(0.95);
  for (const { key, row } of results) if (row.status === "succeeded") expect(submitted.get(key), key).toHaveLength(1);
});
