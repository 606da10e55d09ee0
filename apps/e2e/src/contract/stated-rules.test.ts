import document from "@shoal/contract/openapi.json" with { type: "json" };
import * as schemas from "@shoal/schemas";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

const ajv = new Ajv2020({ strict: false, validateFormats: true });
formats.default(ajv);
ajv.addFormat("binary", true);
ajv.addSchema(document, "document");

const components = document.components.schemas as Readonly<Record<string, object>>;

function allows(component: string, value: unknown): boolean {
  const name = `${component}Input` in components ? `${component}Input` : component;
  const validate = ajv.getSchema(`document#/components/schemas/${name}`);
  if (validate === undefined) throw new Error(`The document has no component ${name}.`);
  return validate(value) === true;
}

/** All selections of the fields. */
function selections(fields: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  return Object.entries(fields).reduce<Record<string, unknown>[]>(
    (found, [name, value]) => [...found, ...found.map((selection) => ({ ...selection, [name]: value }))],
    [{}],
  );
}

const telemetry = { enabled: true };

describe("openapi.json allows what the schemas allow", () => {
  it.each<[component: keyof typeof schemas, fixed: object, fields: Readonly<Record<string, unknown>>]>([
    ["ProxyRef", {}, { id: "a", name: "b" }],
    ["BrowserPermissionConfig", { name: "midi" }, { origin: "http://a.example" }],
    ["BrowserPermissionConfig", { name: "midi" }, { origin: "https://a.example:8443", setting: "denied" }],
    ["BrowserPermissionConfig", { name: "midi" }, { origin: "http://[::1]:3000" }],
    ["BrowserProfile", {}, { id: "a", name: "b", save_changes: true }],
    ["BrowserPoolProfile", {}, { id: "a", name: "b", save_changes: true }],
    ["BrowserExtension", {}, { id: "a", name: "b" }],
    ["BrowserProxyConfig", {}, { id: "a", name: "b", mode: "direct" }],
    ["CredentialRef", {}, { name: "a", provider: "b", path: "v/i", auto: true }],
    ["CredentialRef", { auto: false }, { name: "a", provider: "b", path: "v/i" }],
    ["StartLogin", {}, { proxy: { id: "a" }, browser_telemetry: telemetry, browser: { proxy: { id: "a" } } }],
    ["StartLogin", {}, { proxy: { id: "a" }, browser_telemetry: telemetry, browser: { telemetry } }],
    ["SubmitLogin", {}, { sso_provider: "google", sso_button_selector: "//a" }],
    ["TelemetryExportRequest", {}, { otlp: { enabled: false, destination: { id: "a" } } }],
    ["TelemetryExportRequest", {}, { otlp: { enabled: true, destination: { id: "a", name: "b" } } }],
    ["RenderPage", {}, { url: "https://a.example", html: "<p>", headers: { a: "b" } }],
    ["UpdateProfile", {}, { name: "a", web_bot_auth: null, location: null, conditions: null }],
    ["UpdateBrowser", {}, { proxy: { id: "a" }, proxy_id: "a", disable_default_proxy: true }],
    ["CreateBrowser", {}, { proxy: { id: "a" }, proxy_id: "a" }],
    ["CreateProxy", { type: "custom" }, { config: { host: "a", port: 1 }, name: "x" }],
    ["CreateProxy", { type: "isp" }, { config: { host: "a", port: 1 } }],
    ["CreateProxy", { type: "isp" }, { config: { country: "DE" } }],
    ["CreateProxy", { type: "mobile" }, { config: { country: "" } }],
    ["CreateProxy", { type: "residential" }, { config: { city: "a" } }],
    ["CreateProxy", { type: "residential" }, { config: { city: "a", country: "DE" } }],
    ["ComputerAction", { type: "sleep" }, { sleep: { duration_ms: 1 }, set_cursor: { hidden: true } }],
    ["ComputerAction", { type: "scroll" }, { scroll: { x: 1, y: 1 }, sleep: { duration_ms: 1 } }],
    ["CreateOtlpDestination", { name: "a" }, { endpoint: "https://a.example/v1/logs" }],
    ["CreateOtlpDestination", { name: "a" }, { endpoint: "https://a.example/base/" }],
    ["CreateSchedule", { app_name: "a", action_name: "b" }, { cron: "0 9 * * 1-5" }],
    ["CreateSchedule", { app_name: "a", action_name: "b" }, { cron: "0 9 * *" }],
    ["FilePath", {}, { path: "/a\0b" }],
    ["FilePath", {}, { path: "/a\nb" }],
  ])("%s with %j and selections of %j", (component, fixed, fields) => {
    const schema = schemas[component] as z.core.$ZodType;
    const verdicts = selections(fields).map((selection) => {
      const value = { ...fixed, ...selection };
      return { value, isAllowed: z.safeParse(schema, value).success };
    });
    expect(verdicts.map(({ value }) => ({ value, isAllowed: allows(component, value) }))).toEqual(verdicts);
  });

  it("limits the entries of records", () => {
    const tags = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, ""]));
    expect(allows("CreateBrowser", { tags: tags(50) })).toBe(true);
    expect(allows("CreateBrowser", { tags: tags(51) })).toBe(false);
  });
});

describe("openapi.json states what the service checks later", () => {
  it.each<[component: string, value: object, isAllowed: boolean]>([
    ["ActOnPage", { type: "click", ref: "e1" }, true],
    ["ActOnPage", { type: "click", role: "button", name: "Save", button: "right", timeout_ms: 1 }, true],
    ["ActOnPage", { type: "click" }, false],
    ["ActOnPage", { type: "click", name: "Save" }, false],
    ["ActOnPage", { type: "click", ref: "e1", selector: "#a" }, false],
    ["ActOnPage", { type: "click", ref: "e1", text: "x" }, false],
    ["ActOnPage", { type: "fill", ref: "e1" }, false],
    ["ActOnPage", { type: "fill", selector: "#a", text: "", submit: true, tab: "t1" }, true],
    ["ActOnPage", { type: "drag", ref: "e1", to: {} }, false],
    ["ActOnPage", { type: "drag", ref: "e1", to: { selector: "#b" } }, true],
    ["ActOnPage", { type: "press", keys: ["Enter"] }, true],
    ["ActOnPage", { type: "press", keys: ["Enter"], ref: "e1", selector: "a" }, false],
    ["ActOnPage", { type: "scroll" }, false],
    ["ActOnPage", { type: "scroll", delta_y: 1 }, true],
    ["ActOnPage", { type: "scroll", ref: "e1" }, true],
    ["ActOnPage", { type: "wait_for" }, false],
    ["ActOnPage", { type: "wait_for", text: "x" }, true],
    ["ActOnPage", { type: "wait_for", text: "x", url: "*" }, false],
    ["ActOnPage", { type: "wait_for", text: "x", state: "enabled" }, false],
    ["ActOnPage", { type: "wait_for", ref: "e1", state: "enabled" }, true],
    ["ActOnPage", { type: "wait_for", ref: "e1", text: "x" }, false],
    ["ActOnPage", { type: "wait_for", url: "*", state: "hidden" }, false],
    ["ActOnPage", { type: "open_tab", tab: "t1" }, false],
    ["ActOnPage", { type: "select_tab" }, false],
    ["ActOnPage", { type: "fly" }, false],
    ["CreateBrowser", { isolation: "context", memory: "1GiB" }, false],
    ["CreateBrowser", { isolation: "context", headless: false }, false],
    ["CreateBrowser", { isolation: "context", extensions: [] }, true],
    ["CreateBrowser", { memory: "4GiB" }, true],
    ["CreateBrowser", { memory: "8GiB" }, false],
    ["CreateBrowser", { memory: "8GiB", headless: false }, true],
    ["CreateBrowser", { viewport: { width: 16_385, height: 1 } }, false],
    ["CreateBrowser", { viewport: { width: 7681, height: 1 }, headless: false }, false],
    ["CreateBrowser", { chrome_policy: { "a b": 1 } }, false],
    ["SpawnProcess", { command: "a", cols: 80 }, false],
    ["SpawnProcess", { command: "a", cols: 80, allocate_tty: false }, false],
    ["SpawnProcess", { command: "a", rows: 24, allocate_tty: true }, true],
    ["ExecProcess", { command: "a", as_root: true, as_user: "root" }, false],
    ["ExecProcess", { command: "a", as_root: true, as_user: null }, true],
    ["ExecProcess", { command: "a\0" }, false],
    ["CreateCredential", { name: "a", domain: "a.example", values: {}, totp_digits: 6 }, false],
    ["CreateCredential", { name: "a", domain: "https://a.example/", values: {} }, false],
    ["CreateCredential", { name: "a", domain: "bücher.example:8443", values: {}, totp_secret: "JBSW Y3DP" }, true],
    ["CreateCredential", { name: "a", domain: "a.example", values: {}, totp_secret: "1089" }, false],
    ["CreateApiKey", { name: "a", days_to_expire: 1, expires_at: "2030-01-01T00:00:00Z" }, false],
    ["CreateApiKey", { name: "a", days_to_expire: 1, expires_at: null }, true],
    ["CreateApiKey", { name: "a", role: "viewer", policy: { statements: [] } }, false],
    ["CreateInvocation", { app_name: "a", action_name: "b", queue: true }, false],
    ["CreateInvocation", { app_name: "a", action_name: "b", queue: true, async: true }, true],
    ["ReadPage", { ref: "e1", selector: "a" }, false],
    ["ScreenshotPage", { full_page: true, ref: "e1" }, false],
    ["ScreenshotPage", { full_page: false, ref: "e1" }, true],
    ["PrintPage", { page_ranges: "1-3, 5" }, true],
    ["PrintPage", { page_ranges: "one" }, false],
    ["ClickMouse", { x: -1, y: 0 }, false],
    ["TypeText", { text: "a\tb\n" }, true],
    ["TypeText", { text: "\u001b" }, false],
    ["NetworkRules", { allow: ["*.example.com:443", "10.0.0.0/8", "[::1]:80", "*"] }, true],
    ["NetworkRules", { allow: ["https://example.com"] }, false],
    ["LoadExtensions", { extensions: [] }, false],
  ])("%s %j: %s", (component, value, isAllowed) => {
    expect(allows(component, value)).toBe(isAllowed);
  });
});
