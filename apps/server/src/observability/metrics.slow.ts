import { parser } from "@prometheus-io/lezer-promql";
import { Browser } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { completeConfig } from "../config/config.ts";
import { startServer } from "../main/server.ts";
import { StartError } from "../config/start-error.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const token = "metrics-token-for-tests";
let server: TestServer;
let beside: TestServer;
beforeAll(async () => {
  [server, beside] = await Promise.all([
    startTestServer({ metrics_port: 0, allow_private_hosts: ["127.0.0.1"] }),
    startTestServer({ metrics_token: token }),
  ]);
});
afterAll(() => Promise.all([server.close(), beside.close()]));

/** Samples by name and labels. */
async function scrape(): Promise<Map<string, number>> {
  const response = await fetch(server.running.metricsUrl ?? "");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/plain");
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

it("counts requests by operation and status, without names chosen by clients", async () => {
  await server.request("POST", "/profiles", { body: { name: "counted-by-nobody" } });
  await server.request("GET", "/profiles/counted-by-nobody");
  await server.request("GET", "/profiles/missing-name");
  await server.request("GET", "/wp-login.php");
  await expect
    .poll(async () => (await scrape()).get('shoal_http_requests_total{operation="profiles.get",status="404"}'))
    .toBe(1);
  const samples = await eventuallyPasses(async () => {
    const found = await scrape();
    expect(found.get('shoal_http_requests_total{operation="profiles.create",status="201"}')).toBe(1);
    expect(found.get('shoal_http_requests_total{operation="none",status="404"}')).toBe(1);
    expect(found.get('shoal_http_request_duration_seconds_count{operation="profiles.get",status_class="2xx"}')).toBe(1);
    return found;
  });
  const text = [...samples.keys()].join("\n");
  for (const chosen of ["counted-by-nobody", "missing-name", "wp-login"]) expect(text).not.toContain(chosen);
  // All connections may be busy for a moment.
  await expect.poll(async () => (await scrape()).get('shoal_database_connections{state="idle"}')).toBeGreaterThan(0);
  expect(text).toContain("nodejs_eventloop_lag_seconds");
});

it("counts sessions by state, how long they took to start, streams, sockets and traffic", async () => {
  const before = await scrape();
  const page = createServer((_request, response) => response.end("x".repeat(50_000)));
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  const address = page.address();
  const url = `http://127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}/`;
  const browser = Browser.parse((await server.request("POST", "/browsers", { body: { start_url: url } })).body);
  const socket = new WebSocket(browser.cdp_ws_url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => {
      resolve();
    });
    socket.addEventListener("error", () => {
      reject(new Error("no socket"));
    });
  });
  const ended = new AbortController();
  const stream = await fetch(`${server.baseUrl}/browsers/${browser.session_id}/telemetry/stream`, {
    headers: { authorization: `Bearer ${server.key}` },
    signal: ended.signal,
  });
  expect(stream.status).toBe(200);
  await eventuallyPasses(async () => {
    const live = await scrape();
    expect(live.get('shoal_sessions{state="running"}')).toBe(1);
    expect(live.get("shoal_session_create_seconds_count")).toBe(1);
    expect(live.get('shoal_instance_start_seconds_count{outcome="started"}')).toBe(1);
    expect(live.get("shoal_event_streams")).toBe(1);
    expect(live.get(`shoal_warm_browsers{state="target"}`)).toBe(0);
    expect(live.get(`shoal_warm_takes_total{outcome="miss"}`)).toBe(1);
    expect(live.get("shoal_websockets")).toBe(1);
  });
  await expect.poll(async () => (await scrape()).get("shoal_egress_connections")).toBeGreaterThan(0);
  await expect
    .poll(async () => (await scrape()).get('shoal_egress_bytes_total{direction="received"}'))
    .toBeGreaterThan((before.get('shoal_egress_bytes_total{direction="received"}') ?? 0) + 50_000);

  ended.abort();
  socket.close();
  await server.request("DELETE", `/browsers/${browser.session_id}`);
  await expect.poll(async () => (await scrape()).get('shoal_sessions_ended_total{reason="deleted"}')).toBe(1);
  await expect.poll(async () => (await scrape()).get('shoal_sessions{state="running"}')).toBe(0);
  await expect
    .poll(async () => [(await scrape()).get("shoal_event_streams"), (await scrape()).get("shoal_websockets")])
    .toEqual([0, 0]);
  page.close();
});

it("exports each metric and label of the Helm chart's alerts, dashboard and autoscaler", async () => {
  const text = await (await fetch(server.running.metricsUrl ?? "")).text();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const isExported = (name: string): boolean =>
    types.get(name) === "histogram"
      ? false
      : types.has(name) || (/_(?:bucket|sum|count)$/.test(name) && types.has(name.replace(/_[a-z]+$/, "")));
  const labelsOf = (name: string): readonly string[] =>
    text
      .split("\n")
      .flatMap((line) =>
        line.startsWith(`${name}{`) ? [...line.matchAll(/(\w+)="/g)].map(([, label = ""]) => label) : [],
      );
  const expressions = chartExpressions();
  expect(expressions.length).toBeGreaterThan(30);
  const wrong = expressions.flatMap((expression) => {
    const { labels, metrics, problem } = readExpression(expression);
    const known = new Set([...scrapeLabels, ...metrics.flatMap(labelsOf)]);
    return [
      ...(problem === undefined ? [] : [`${problem} in ${expression}`]),
      ...(metrics.length > 0 ? [] : [`no metric in ${expression}`]),
      ...metrics.filter((name) => name !== "up" && !isExported(name)),
      // A metric without samples has no labels yet.
      ...(metrics.some((name) => labelsOf(name).length > 0) ? labels.filter((label) => !known.has(label)) : []),
    ];
  });
  expect(wrong).toEqual([]);
  expect(readExpression("sum(rate(x[5m])").problem).toBe("syntax error");
});

it("requires the token, on the API port as well", async () => {
  expect((await server.request("GET", "/metrics")).status).toBe(404);
  expect((await beside.request("GET", "/metrics")).body).toMatchObject({ code: "unauthorized" });
  expect((await beside.request("GET", "/metrics", { key: null })).status).toBe(401);
  expect((await beside.request("GET", "/metrics", { key: `${token}x` })).status).toBe(401);
  const response = await fetch(`${beside.baseUrl}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("shoal_http_requests_in_flight");
  expect((await fetch(new URL("/profiles", server.running.metricsUrl))).status).toBe(404);
});

it("requires a token for addresses other than loopback", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-metrics-"));
  try {
    const error: unknown = await startServer(
      completeConfig({
        data_dir: folder,
        port: 0,
        placement: "process",
        warm: 0,
        metrics_port: 0,
        metrics_host: "0.0.0.0",
      }),
      { logTo: new PassThrough().resume() },
    ).catch((reason: unknown) => reason);
    if (!StartError.isInstance(error)) throw new Error("It started.");
    expect(error.hint).toContain("metrics_token");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Prometheus adds them. */
const scrapeLabels = ["namespace", "pod", "job", "le"];

function chartExpressions(): readonly string[] {
  const chart = (name: string) =>
    readFileSync(new URL(`../../../../charts/shoal/files/${name}`, import.meta.url), "utf8");
  const { groups } = parse(chart("alerts.yaml")) as { groups: { rules: { expr: string }[] }[] };
  const { panels } = JSON.parse(chart("dashboard.json")) as { panels: { targets: { expr: string }[] }[] };
  const { rules } = parse(chart("prometheus-adapter.yaml")) as {
    rules: { custom: { metricsQuery: string; seriesQuery: string }[] };
  };
  return [
    ...groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...rules.custom.flatMap(({ metricsQuery, seriesQuery }) => [metricsQuery, seriesQuery]),
  ].map((expression) =>
    expression
      .replaceAll("$__rate_interval", "5m")
      .replaceAll("<<.LabelMatchers>>", "")
      .replaceAll("<<.GroupBy>>", "namespace, pod"),
  );
}

function readExpression(expression: string): {
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
  readonly problem: string | undefined;
} {
  const metrics: string[] = [];
  const labels: string[] = [];
  let problem: string | undefined;
  parser.parse(expression).iterate({
    enter({ from, name, node, to, type }) {
      const part = expression.slice(from, to);
      if (type.isError) problem = "syntax error";
      else if (name === "Identifier" && node.parent?.name === "VectorSelector") metrics.push(part);
      else if (name === "LabelName") labels.push(part);
    },
  });
  return { metrics, labels, problem };
}
