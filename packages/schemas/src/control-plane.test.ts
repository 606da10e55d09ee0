import fc from "fast-check";
import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import {
  AcquireBrowser,
  AuthContext,
  BrowserNetworkConfig,
  BrowserPool,
  ChromeStoreExtension,
  CreateBrowserPool,
  CreateOtlpDestination,
  CreateProject,
  CreateProxy,
  ExportAuditLogs,
  ListAuditLogs,
  Proxy,
  UpdateBrowserPool,
  UpdateOrgLimits,
  UpdateOtlpDestination,
  UpdateProjectLimits,
} from "./index.ts";

const accepts = (schema: z.ZodMiniType, value: unknown) => z.safeParse(schema, value).success;
const problems = (schema: z.ZodMiniType, value: unknown) =>
  z.safeParse(schema, value).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];

describe("a new proxy", () => {
  const server = { host: "proxy.example", port: 3128 };
  it.each([
    { type: "datacenter" },
    { type: "isp", config: { country: "DE" } },
    { type: "residential", config: { country: "US", state: "CA", city: "sanfrancisco", zip: "94103", asn: "AS7922" } },
    { type: "mobile", config: { country: "US", state: "CA" } },
    { type: "custom", config: server },
    {
      type: "custom",
      config: { ...server, username: "u", password: "p", ca_bundle: "-----BEGIN" },
      bypass_hosts: ["*.example.com"],
    },
  ])("can be $type with $config", (proxy) => {
    expect(problems(CreateProxy, proxy)).toEqual([]);
  });

  it.each([
    [{ type: "custom" }, "config: a custom proxy needs host and port"],
    [{ type: "custom", config: { country: "DE" } }, "config: a custom proxy needs host and port"],
    [{ type: "mobile", config: { country: "US", zip: "94103" } }, "config.zip: is not taken by a mobile proxy"],
    [{ type: "datacenter", config: server }, "config.port: is not taken by a datacenter proxy"],
    [{ type: "residential", config: { city: "berlin" } }, "config.city: needs country"],
    [{ type: "isp", config: { country: "" } }, "config.country: must not be empty; omit it"],
  ])("is rejected as %j", (proxy, problem) => {
    expect(problems(CreateProxy, proxy)).toContain(problem);
  });

  it("uses https by default, and has limits", () => {
    expect(z.parse(CreateProxy, { type: "isp" }).protocol).toBe("https");
    const custom = (config: object, rest: object = {}) =>
      accepts(CreateProxy, { type: "custom", config: { ...server, ...config }, ...rest });
    expect([0, 1, 65_535, 65_536, 80.5].map((port) => custom({ port }))).toEqual([false, true, true, false, false]);
    expect([0, 253, 254].map((length) => custom({ host: "h".repeat(length) }))).toEqual([false, true, false]);
    expect([65_536, 65_537].map((length) => custom({ ca_bundle: "c".repeat(length) }))).toEqual([true, false]);
    expect([100, 101].map((length) => custom({}, { bypass_hosts: Array.from({ length }, () => "h") }))).toEqual([
      true,
      false,
    ]);
  });

  it("accepts unknown values of a newer service", () => {
    expect(accepts(Proxy, { type: "satellite", config: { orbit: "low" }, protocol: "socks7" })).toBe(true);
  });
});

describe("the period of an audit log", () => {
  const day = 24 * 60 * 60 * 1000;
  it.each([
    ["list", ListAuditLogs],
    ["export", ExportAuditLogs],
  ])("is positive and at most 30 days: %s", (_name, schema) => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true }),
        fc.integer({ min: -2 * day, max: 40 * day }),
        (from, length) => {
          const query = { start: from.toISOString(), end: new Date(from.getTime() + length).toISOString() };
          expect(accepts(schema, query)).toBe(length > 0 && length <= 30 * day);
        },
      ),
    );
  });

  it("can be in any time zone, and requires one", () => {
    expect(accepts(ListAuditLogs, { start: "2026-01-01T00:00:00+02:00", end: "2026-01-01T00:00:00Z" })).toBe(true);
    expect(problems(ListAuditLogs, { start: "2026-01-01T00:00:00Z", end: "2026-01-01T01:00:00+02:00" })).toEqual([
      "end: must be later than start",
    ]);
    for (const start of ["2026-01-01", "yesterday", "2026-01-01T00:00:00"])
      expect(accepts(ListAuditLogs, { start, end: "2026-01-02T00:00:00Z" })).toBe(false);
  });

  it("has limits for pages, chunks and filters", () => {
    const window = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };
    const list = (query: object) => accepts(ListAuditLogs, { ...window, ...query });
    expect([0, 1, 100, 101].map((limit) => list({ limit }))).toEqual([false, true, true, false]);
    expect([0, 1, 50_000, 50_001].map((limit) => accepts(ExportAuditLogs, { ...window, limit }))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([10, 11].map((length) => list({ exclude_method: Array.from({ length }, () => "GET") }))).toEqual([
      true,
      false,
    ]);
    expect([100, 101].map((length) => list({ search_user_id: Array.from({ length }, () => "u") }))).toEqual([
      true,
      false,
    ]);
    expect(z.parse(ListAuditLogs, window).limit).toBe(100);
    expect(z.parse(ExportAuditLogs, window)).toMatchObject({ limit: 50_000, format: "jsonl.gz" });
  });
});

describe("a pool", () => {
  it("has defaults and limits", () => {
    expect(z.parse(CreateBrowserPool, { size: 1 })).toEqual({
      size: 1,
      fill_rate_per_minute: 25,
      timeout_seconds: 600,
      stealth: false,
      kiosk_mode: false,
    });
    const create = (pool: object) => accepts(CreateBrowserPool, { size: 1, ...pool });
    expect([0, 1, 1.5].map((size) => create({ size }))).toEqual([false, true, false]);
    expect([-1, 0, 100].map((fill_rate_per_minute) => create({ fill_rate_per_minute }))).toEqual([false, true, true]);
    expect([9, 10, 259_200, 259_201].map((timeout_seconds) => create({ timeout_seconds }))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([20, 21].map((length) => create({ extensions: Array.from({ length }, () => ({ id: "e" })) }))).toEqual([
      true,
      false,
    ]);
    expect([2048, 2049].map((length) => create({ start_url: "u".repeat(length) }))).toEqual([true, false]);
    expect(
      [0, 3600, -1, 3601].map((acquire_timeout_seconds) => accepts(AcquireBrowser, { acquire_timeout_seconds })),
    ).toEqual([true, true, false, false]);
  });

  it("changes only the given fields, without the defaults of creation", () => {
    expect(z.parse(UpdateBrowserPool, { name: "" })).toEqual({ name: "", discard_all_idle: false });
    expect(
      accepts(UpdateBrowserPool, {
        profile: { id: "" },
        proxy_id: "",
        start_url: "",
        telemetry: null,
        chrome_policy: {},
        network: {},
      }),
    ).toBe(true);
    for (const profile of [{}, { id: "a", name: "b" }]) expect(accepts(UpdateBrowserPool, { profile })).toBe(false);
    expect(["a b", "n".repeat(256)].some((name) => accepts(UpdateBrowserPool, { name }))).toBe(false);
  });

  it("accepts unknown fields of a newer service", () => {
    const pool = {
      id: "p",
      available_count: 1,
      acquired_count: 0,
      created_at: "2026-01-01T00:00:00Z",
      browser_pool_config: { size: 1, colour: "blue" },
      extension_ids: [],
      region: "moon",
    };
    expect(accepts(BrowserPool, pool)).toBe(true);
  });
});

describe("limits and names", () => {
  it("counts the characters of a project's name, not its UTF-16 units", () => {
    expect(
      ["p", "😀".repeat(255), "", "😀".repeat(256), "a\nb"].map((name) => accepts(CreateProject, { name })),
    ).toEqual([true, true, false, false, false]);
  });

  it("accepts limits from 0, and null", () => {
    const limits = [null, 0, 1, -1, 1.5];
    expect(limits.map((max_concurrent_sessions) => accepts(UpdateProjectLimits, { max_concurrent_sessions }))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(
      limits.map((default_project_max_concurrent_sessions) =>
        accepts(UpdateOrgLimits, { default_project_max_concurrent_sessions }),
      ),
    ).toEqual([true, true, true, false, false]);
  });

  it("accepts up to 32 private hosts", () => {
    expect(
      [0, 32, 33].map((length) =>
        accepts(BrowserNetworkConfig, { private_hosts: Array.from({ length }, () => "10.0.0.0/8") }),
      ),
    ).toEqual([true, true, false]);
  });

  it("requests an extension for Linux by default", () => {
    expect(z.parse(ChromeStoreExtension, { url: "https://chromewebstore.google.com/detail/x/y" }).os).toBe("linux");
  });

  it("accepts callers with unknown methods of a newer service", () => {
    const scope = { project_id: null };
    const context = {
      authentication: { method: "passkey", source: "moon", credential_id: null },
      authorization: { credential_scope: scope, effective_scope: scope },
      organization: { id: "o" },
      principal: { id: "k", type: "robot" },
    };
    expect(accepts(AuthContext, context)).toBe(true);
  });
});

describe("a telemetry destination", () => {
  const create = (destination: object) =>
    problems(CreateOtlpDestination, { name: "otel", endpoint: "https://otel.example", ...destination });

  it.each(["http://collector.example:4318", "https://otel.example/base/path"])(
    "accepts the base URL %s",
    (endpoint) => {
      expect(create({ endpoint })).toEqual([]);
    },
  );
  it.each([
    "ftp://otel.example",
    "otel.example",
    "https://otel.example/v1/logs",
    "https://otel.example/v1/traces/",
    "https://otel.example/?a=b",
    "https://otel.example/#a",
    "",
  ])("rejects %j", (endpoint) => {
    expect(create({ endpoint })).not.toEqual([]);
  });

  it("limits the size of headers, and requires unique names", () => {
    expect([8191, 8192].map((length) => create({ headers: { k: "v".repeat(length) } }).length)).toEqual([0, 1]);
    expect(create({ headers: { Authorization: "a", authorization: "b" } })).toEqual([
      "headers: has one name twice: upper and lower case make no difference",
    ]);
    for (const headers of [{ "a b": "v" }, { a: "v\r\nx: y" }, { a: "€" }]) expect(create({ headers })).not.toEqual([]);
    expect(accepts(UpdateOtlpDestination, { headers: { authorization: null, "x-team": "a" } })).toBe(true);
    expect(create({ headers: { authorization: null } })).not.toEqual([]);
  });
});
