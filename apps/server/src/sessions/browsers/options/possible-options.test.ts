import type { PlacementAbilities } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import fc from "fast-check";
import { expect, it } from "vitest";
import { refuseAuthorities, refuseUnable, refuseWebRtcPolicies } from "./possible-options.ts";

const everything: PlacementAbilities = {
  fullChromium: true,
  windows: true,
  privateHosts: true,
  policies: true,
  authorities: true,
  locales: "all",
  contexts: true,
  closedNetwork: true,
};

/** Returns status and message of a refusal, or `undefined`. */
function refusal(
  body: Parameters<typeof refuseUnable>[0],
  abilities: Partial<PlacementAbilities> = {},
): string | undefined {
  try {
    refuseUnable(body, { ...everything, ...abilities });
    return undefined;
  } catch (error) {
    if (ServiceError.isInstance(error)) return `${String(error.status)} ${error.message}`;
    throw error;
  }
}

it.each<[string, Parameters<typeof refuseUnable>[0]]>([
  ["stealth", { stealth: true }],
  ["extensions", { extensions: [{ name: "blocker" }] }],
  ["chrome_policy", { chrome_policy: { URLBlocklist: [] } }],
  ["headless", { headless: false }],
])("names the missing package when only a headless shell is installed: %s", (field, body) => {
  expect(refusal(body, { fullChromium: false })).toMatch(
    new RegExp(`^400 body\\.${field}: needs a full Chromium.*apt-get install chromium`),
  );
  expect(refusal(body)).toBeUndefined();
});

it("refuses options that the server cannot provide", () => {
  expect(refusal({ gpu: true })).toMatch(/^400 body\.gpu/);
  expect(refusal({ chrome_policy: { URLBlocklist: [] } }, { policies: false })).toMatch(
    /^400 body\.chrome_policy: needs sessions that run in a sandbox or a container of this machine.*the placement sandbox or docker/,
  );
  expect(refusal({ network: { private_hosts: ["10.0.0.1"] } }, { privateHosts: false })).toMatch(
    /^403 body\.network\.private_hosts: this service lets no session reach private hosts.*allow_private_hosts/,
  );
  expect(refusal({ network: { private_hosts: ["10.0.0.1", "a b"] } })).toMatch(
    /^400 body\.network\.private_hosts: "a b" is not a host/,
  );
});

it("refuses a proxy whose authority its browsers cannot trust, and names the package to install", () => {
  const refusalOf = (request: Parameters<typeof refuseAuthorities>[0], authorities: boolean): unknown => {
    try {
      refuseAuthorities(request, { ...everything, authorities });
      return undefined;
    } catch (error) {
      return ServiceError.isInstance(error) ? `${String(error.status)} ${error.message}` : error;
    }
  };
  expect(refusalOf({}, true)).toBeUndefined();
  expect(refusalOf({}, false)).toMatch(
    /^400 body\.proxy_id: this proxy has private certificates.*needs Linux and the program certutil.*apt-get install libnss3-tools.*without ca_bundle/,
  );
  expect(refusalOf({ proxy: { name: "office" } }, false)).toMatch(/^400 body\.proxy: /);
});

it("refuses what a session in a shared browser cannot have, and shared browsers where sessions are containers", () => {
  const isolation = "context";
  expect(refusal({ isolation })).toBeUndefined();
  expect(refusal({ isolation, headless: true, extensions: [], sleep_after_seconds: 0 })).toBeUndefined();
  expect(refusal({ isolation: "process", stealth: true })).toBeUndefined();
  for (const body of [
    { stealth: true },
    { headless: false },
    { kiosk_mode: true },
    { profile: { name: "mine", save_changes: false } },
  ])
    expect(refusal({ isolation, ...body })).toMatch(
      new RegExp(
        `^400 body.${Object.keys(body).join()}: not available with isolation: "context", because .*omit isolation`,
      ),
    );
  expect(refusal({ isolation }, { contexts: false })).toMatch(/^400 body.isolation: context needs .*Omit the field/);
});

it("accepts options that request nothing, on every server", () => {
  const nothing: PlacementAbilities = {
    fullChromium: false,
    windows: false,
    privateHosts: false,
    policies: false,
    authorities: false,
    locales: [],
    contexts: false,
    closedNetwork: false,
  };
  expect(
    refusal(
      {
        gpu: false,
        stealth: false,
        headless: true,
        kiosk_mode: true,
        extensions: [],
        chrome_policy: {},
        network: { private_hosts: [] },
      },
      nothing,
    ),
  ).toBeUndefined();
});

it("refuses policies that the service sets itself", () => {
  for (const own of [
    "ProxyMode",
    "ExtensionInstallForcelist",
    "DeveloperToolsAvailability",
    "RemoteDebuggingAllowed",
    "DownloadDirectory",
    "UserDataDir",
  ]) {
    expect(refusal({ chrome_policy: { [own]: "x", BookmarkBarEnabled: true } }), own).toContain(
      `${own} is the service's own`,
    );
  }
  for (const free of [
    "URLBlocklist",
    "BookmarkBarEnabled",
    "HomepageLocation",
    "DownloadRestrictions",
    "ManagedBookmarks",
  ])
    expect(refusal({ chrome_policy: { [free]: {} } }), free).toBeUndefined();
  expect(refusal({ chrome_policy: { "../x": 1 } })).toContain("is not a policy name");
  expect(refusal({ chrome_policy: { Big: "x".repeat(5 * 2 ** 20) } })).toContain("at most 5242880 are taken");
  expect(
    refusal({
      chrome_policy: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`P${String(index)}`, 1])),
    }),
  ).toContain("at most 1000 are taken");
});

it("accepts only text that the database can store, at any depth", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), (text, rest) => {
      const isFine = !text.includes("\0") && text.isWellFormed();
      expect(refusal({ chrome_policy: { Some: [{ deep: [text] }] } }) === undefined).toBe(isFine);
      expect(refusal({ chrome_policy: { Some: { a: { [text]: 1 } } } }) === undefined).toBe(isFine);
      const json = JSON.stringify(rest);
      if (!json.includes("\\u0000") && !/\\ud[89a-f]/.test(json))
        expect(refusal({ chrome_policy: { Some: rest } })).toBeUndefined();
    }),
  );
});

it("accepts at most 5 MiB of policies, counted as JSON", () => {
  const ofSize = (bytes: number, fill = "x") => ({
    A: 1,
    Big: fill.repeat((bytes - '{"A":1,"Big":""}'.length) / Buffer.byteLength(fill)),
  });
  const largest = ofSize(5 * 2 ** 20);
  expect(Buffer.byteLength(JSON.stringify(largest))).toBe(5 * 2 ** 20);
  expect(refusal({ chrome_policy: largest })).toBeUndefined();
  expect(refusal({ chrome_policy: ofSize(5 * 2 ** 20, "ü") })).toBeUndefined();
  expect(refusal({ chrome_policy: ofSize(5 * 2 ** 20 + 1) })).toContain(
    "5242881 bytes as JSON; at most 5242880 are taken",
  );
});

it("refuses policies that open WebRTC in a replay that nothing may leave", () => {
  const policies = { WebRtcIPHandlingUrl: [] };
  const refuse = (on_missing: "fail" | "pass") => {
    refuseWebRtcPolicies(policies, { replay: { recording: "rec", on_missing } });
  };
  expect(() => {
    refuse("fail");
  }).toThrow(expect.objectContaining({ field: "body.chrome_policy" }));
  refuse("pass");
  refuseWebRtcPolicies(policies, {});
});
