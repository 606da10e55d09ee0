import { ids, times, type Examples } from "./example.ts";

const browser = {
  session_id: ids.session,
  name: "checkout-run",
  created_at: times.created,
  cdp_ws_url: `ws://127.0.0.1:7777/browsers/${ids.session}/cdp?jwt=eyJhbGciOi`,
  webdriver_ws_url: `ws://127.0.0.1:7777/browsers/${ids.session}/webdriver?jwt=eyJhbGciOi`,
  playwright_ws_url: `ws://127.0.0.1:7777/browsers/${ids.session}/playwright?jwt=eyJhbGciOi`,
  headless: true,
  stealth: false,
  timeout_seconds: 300,
  viewport: { width: 1280, height: 800 },
  tags: { team: "shop" },
  usage: { uptime_ms: 65_250 },
  placement: "sandbox",
  region: "us-east",
  memory: "4GiB",
  browser_restarts: 0,
};
const profile = {
  id: ids.profile,
  name: "work",
  created_at: times.created,
  updated_at: times.updated,
  saved_at: times.updated,
  size_bytes: 184_320,
  version: 3,
};

const storageState = {
  cookies: [
    {
      name: "session",
      value: "a1b2c3",
      domain: "example.com",
      path: "/",
      expires: -1,
      httpOnly: true,
      secure: true,
      sameSite: "Lax" as const,
    },
  ],
  origins: [{ origin: "https://example.com", localStorage: [{ name: "theme", value: "dark" }] }],
};

const handoff = {
  id: ids.handoff,
  session_id: ids.session,
  status: "requested",
  message: "Please sign in, then return control.",
  on_automation: "wait",
  label: "Ana from finance",
  url: `http://127.0.0.1:7777/browser/live/${ids.session}.${ids.handoff}.h1b2c3d.4t7b`,
  created_at: times.created,
  expires_at: "2026-03-01T09:45:00.000Z",
  taken_at: null,
  taken_by: null,
  ended_at: null,
  released_by: null,
  note: null,
};
const liveViewLink = {
  id: ids.handoff,
  session_id: ids.session,
  scope: "view",
  label: "Ana from finance",
  created_at: times.created,
  expires_at: times.later,
};

/** Examples of sessions, profiles, proxies, extensions and pools. */
export const sessionExamples = {
  Browser: [browser],
  CreateBrowser: [
    {
      name: "checkout-run",
      timeout_seconds: 300,
      viewport: { width: 1280, height: 800 },
      start_url: "https://example.com/",
      profile: { name: "work", save_changes: true },
      tags: { team: "shop" },
      network: { allow: ["example.com", "*.example.com:443"], deny: ["ads.example.com"] },
    },
    {},
  ],
  UpdateBrowser: [
    { name: null, tags: { team: "search" }, viewport: { width: 1024, height: 768 } },
    { network: { deny: ["*.ads.example"] }, sleep_after_seconds: 30 },
  ],
  Handoff: [handoff],
  RequestHandoff: [
    { message: "Please sign in, then return control.", timeout_seconds: 900, label: "Ana from finance" },
    { message: "Please confirm the payment.", on_automation: "refuse" },
  ],
  ReleaseHandoff: [{ note: "The code is 4711." }, {}],
  LiveViewLink: [liveViewLink],
  CreateLiveViewLink: [{ scope: "view", expires_in_seconds: 86_400, label: "Ana from finance" }, {}],
  CreatedLiveViewLink: [
    { ...liveViewLink, url: `http://127.0.0.1:7777/browser/live/${ids.session}.${ids.handoff}.k1b2c3d.4t7b` },
  ],
  ExtendBrowser: [{ max_duration_seconds: 3600 }, {}],
  ForkBrowser: [{ count: 8 }, { names: ["left", "right"], mode: "restored" }],
  ForkedBrowsers: [
    {
      mode: "restored",
      not_exact_because: "The session was not created with forkable: true.",
      paused_ms: 0,
      browsers: [{ ...browser, name: "left", forked_from: ids.session }],
      errors: [{ index: 1, code: "name_taken", message: "A running session of this project is named right already." }],
    },
  ],
  Curl: [
    {
      url: "https://example.com/api/cart",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"item":7}',
      timeout_ms: 10_000,
    },
  ],
  CurlResult: [
    {
      status: 200,
      headers: { "content-type": ["application/json"] },
      body: '{"items":1}',
      body_encoding: "utf8",
      duration_ms: 184,
    },
  ],
  LimitError: [
    {
      code: "too_many_requests",
      message: "This project runs 50 sessions, its limit. Delete one, or wait until one ends.",
      limit: 50,
      used: 50,
      remaining: 0,
    },
  ],
  CurlError: [
    {
      code: "bad_gateway",
      message: "example.com could not be reached through the browser: its name does not resolve.",
      net_error: -105,
      net_error_name: "ERR_NAME_NOT_RESOLVED",
    },
  ],
  Profile: [profile],
  CreateProfile: [{ name: "work" }],
  UpdateProfile: [{ name: "work-2026" }],
  ProfileVersion: [
    {
      version: 3,
      created_at: times.updated,
      size_bytes: 184_320,
      checksum: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      source: "session",
      session_id: ids.session,
      is_current: true,
    },
  ],
  RollbackProfile: [{ version: 2 }],
  CloneProfile: [{ name: "work-copy" }, {}],
  StorageState: [storageState],
  ImportStorageState: [storageState],
  Extension: [
    { id: ids.extension, name: "ad-filter", created_at: times.created, size_bytes: 48_213, last_used_at: null },
  ],
  Proxy: [
    {
      id: ids.proxy,
      name: "office",
      type: "custom",
      protocol: "https",
      status: "available",
      last_checked: times.updated,
      config: { host: "proxy.example.com", port: 8443, username: "shoal", has_password: true, has_ca_bundle: false },
    },
  ],
  CreateProxy: [
    {
      name: "office",
      type: "custom",
      protocol: "https",
      config: { host: "proxy.example.com", port: 8443, username: "shoal", password: "correct-horse" },
      bypass_hosts: ["intranet.example.com"],
    },
    { name: "dsl", type: "residential", config: { country: "DE" } },
  ],
  UpdateProxy: [{ name: "branch-office" }],
  CheckProxy: [{ url: "https://example.com/" }],
  BrowserPool: [
    {
      id: ids.pool,
      name: "warm",
      available_count: 3,
      acquired_count: 1,
      created_at: times.created,
      browser_pool_config: {
        size: 4,
        name: "warm",
        fill_rate_per_minute: 10,
        timeout_seconds: 600,
        headless: true,
        stealth: false,
      },
      extension_ids: [ids.extension],
      region: "us-east",
    },
  ],
  CreateBrowserPool: [{ name: "warm", size: 4, timeout_seconds: 600, profile: { name: "work" } }],
  UpdateBrowserPool: [{ size: 8, discard_all_idle: true }],
  DeleteBrowserPool: [{ force: true }],
  AcquireBrowser: [{ acquire_timeout_seconds: 30, name: "checkout-run", tags: { team: "shop" } }],
  ReleaseBrowser: [{ session_id: ids.session, reuse: false }],
} satisfies Examples;
