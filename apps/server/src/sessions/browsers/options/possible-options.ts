import {
  gpuUnavailable,
  type OwnBrowserOptions,
  refuseFullBrowserOptions,
  refuseOwnBrowserOptions,
  viewportTooLarge,
} from "@shoal/contract/refusals";
import { checkPrivateHosts, type PlacementAbilities, type PlacementSleep } from "@shoal/placement";
import { badInput, ServiceError } from "@shoal/router";
import { maxScreenPixels } from "@shoal/schemas/viewport-limits";
import { allowlistOf } from "./allowlist.ts";
import { howToInstall } from "./full-chromium.ts";
import { refuseLocation } from "./location.ts";
import { networkRulesOf } from "../../../resources/projects/network-rules.ts";
import type { RequestedOptions, SessionOptions } from "./session-options.ts";

/** For all policies of a session, in bytes of JSON. Bodies with policies may have one MiB more. */
const maxPolicyBytes = 5 * 2 ** 20;
const maxPolicies = 1000;

/** The service sets these itself: extensions, proxy, remote debugging and downloads. */
const ownPolicies =
  /^(?:(?:Extension|Proxy|DeveloperTools|RemoteDebugging)\w*|HeadlessMode|UserDataDir|DiskCacheDir|DownloadDirectory|DefaultDownloadDirectory|BrowserSignin|CloudManagement\w*)$/;

/** @throws {ServiceError} 400 naming the field that this host or Chromium does not support. */
export function refuseUnable(
  body: RequestedOptions & { readonly gpu?: boolean | undefined },
  abilities: PlacementAbilities,
): void {
  if (body.gpu === true) throw ServiceError.of(gpuUnavailable());
  if (body.isolation === "context") refuseSharing(body, abilities);
  if (body.chrome_policy !== undefined) checkPolicies(body.chrome_policy, abilities);
  checkHosts(body.network?.private_hosts ?? [], abilities);
  networkRulesOf(body.network);
  if (body.network?.allowed_hosts !== undefined) refuseOpenNetwork(abilities);
  refuseWebRtcPolicies(body.chrome_policy, { allowlist: allowlistOf(body.network), replay: body.replay });
  if (body.headless === false) checkWindow(body.viewport, abilities);
  refuseLocation(body.location, abilities);
  const needsFull = {
    headless: body.headless === false,
    stealth: body.stealth === true,
    chrome_policy: hasFields(body.chrome_policy),
    extensions: (body.extensions?.length ?? 0) > 0,
  };
  for (const [field, isAsked] of Object.entries(needsFull)) {
    if (isAsked && !abilities.fullChromium)
      throw badInput(`body.${field}`, "needs a full Chromium, and this server has only a headless shell", {
        hint: howToInstall,
      });
  }
}

/** @throws {ServiceError} 400 naming the first field that a session in a shared browser cannot have. */
export function refuseSharing(body: OwnBrowserOptions, abilities: Pick<PlacementAbilities, "contexts">): void {
  if (!abilities.contexts)
    throw badInput("body.isolation", "context needs sessions that run in a sandbox or as processes of this machine", {
      hint: "Omit the field to get a separate browser",
    });
  const refusal = refuseOwnBrowserOptions(body);
  if (refusal !== undefined) throw ServiceError.of(refusal);
}

/** @throws {ServiceError} 400 if this host's sessions cannot trust the authority of the requested proxy. */
export function refuseAuthorities(
  { proxy }: { readonly proxy?: object | undefined },
  abilities: PlacementAbilities,
): void {
  if (abilities.authorities) return;
  throw badInput(
    `body.${proxy === undefined ? "proxy_id" : "proxy"}`,
    "this proxy has private certificates (config.ca_bundle), which browsers of this server cannot trust: that needs Linux and the program certutil",
    {
      hint: "Install it on the server (Debian: apt-get install libnss3-tools; Fedora: nss-tools) and start the service again, or name a proxy without ca_bundle",
    },
  );
}

/** @throws {ServiceError} 400 if this server's sessions cannot sleep. */
export function refuseSleep(
  { sleep_after_seconds: seconds = 0 }: { readonly sleep_after_seconds?: number | undefined },
  { unableBecause }: PlacementSleep,
): void {
  if (seconds > 0 && unableBecause !== undefined)
    throw badInput("body.sleep_after_seconds", `sessions of this server cannot sleep. ${unableBecause}`, {
      hint: "Omit the field (`shoal doctor` lists missing parts)",
    });
}

/** @throws {ServiceError} 400 if this server's sessions cannot be copied, or not with these options. */
export function refuseForkable(body: RequestedOptions, unforkableBecause: string | undefined): void {
  if (body.forkable !== true) return;
  if (unforkableBecause !== undefined)
    throw badInput("body.forkable", `this server cannot copy sessions. ${unforkableBecause}`, {
      hint: "Omit the field: forks are then restored from saved state (`shoal doctor` lists missing parts)",
    });
  const refusal = refuseFullBrowserOptions(body);
  if (refusal !== undefined) throw ServiceError.of(refusal);
}

function checkHosts(hosts: readonly string[], abilities: PlacementAbilities): void {
  if (hosts.length === 0) return;
  const problem = checkPrivateHosts(hosts);
  if (problem !== undefined) {
    // The problem begins with the field: `private_hosts[0]: …`.
    const [field = "private_hosts"] = problem.split(": ", 1);
    throw badInput(`body.network.${field}`, problem.slice(field.length + 2));
  }
  if (!abilities.privateHosts) {
    throw new ServiceError(403, "forbidden", "this service lets no session reach private hosts", {
      field: "body.network.private_hosts",
      hint: "The operator can allow hosts (allow_private_hosts); a session reaches the allowed hosts that it names.",
    });
  }
}

/** @throws {ServiceError} 400 where something in a session could bypass the list. */
function refuseOpenNetwork({ closedNetwork }: PlacementAbilities): void {
  if (!closedNetwork)
    throw badInput(
      "body.network.allowed_hosts",
      "needs sessions in a sandbox, a container or a pod: sessions of this server are plain processes, whose programs can bypass the list",
      { hint: "Use another placement (`shoal doctor` lists missing parts), or limit pages alone with network.allow" },
    );
}

/** @throws {ServiceError} 400 for policies that could send data around the gateway. */
export function refuseWebRtcPolicies(
  policies: Readonly<Record<string, unknown>> | undefined,
  { allowlist, replay }: { readonly [Name in "allowlist" | "replay"]?: SessionOptions[Name] | undefined },
): void {
  const name = Object.keys(policies ?? {}).find((each) => /^WebRtcIPHandling/i.test(each));
  const closedBy =
    allowlist?.hosts !== undefined
      ? "network.allowed_hosts"
      : replay?.on_missing === "fail"
        ? 'replay.on_missing: "fail"'
        : undefined;
  if (name !== undefined && closedBy !== undefined)
    throw badInput("body.chrome_policy", `${name} cannot be combined with ${closedBy}`, {
      hint: "Remove the policy: WebRTC has no way out of this session",
    });
}

function checkWindow(viewport: RequestedOptions["viewport"], abilities: PlacementAbilities): void {
  if (!abilities.windows)
    throw badInput("body.headless", "false needs the X server Xvfb, and this server has none", {
      hint: "Install it (Debian: apt-get install xvfb) and start the service again, or omit the field for a browser without a window",
    });
  for (const side of ["width", "height"] as const) {
    if (viewport !== undefined && viewport[side] > maxScreenPixels)
      throw ServiceError.of(viewportTooLarge(side, maxScreenPixels, { windowed: true }));
  }
}

/** NUL and lone surrogates, which PostgreSQL cannot store. A backslash in the text itself is doubled. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

function hasFields(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length > 0;
}

/** @throws {ServiceError} 400. `{}` removes all policies and is always valid. */
export function checkPolicies(policies: Readonly<Record<string, unknown>>, abilities: PlacementAbilities): void {
  const names = Object.keys(policies);
  if (names.length === 0) return;
  if (!abilities.policies) {
    throw badInput(
      "body.chrome_policy",
      "needs sessions that run in a sandbox or a container of this machine: Chromium reads policies from a folder of the whole system",
      { hint: "Use the placement sandbox or docker (`shoal doctor` lists missing parts), or omit the field" },
    );
  }
  if (names.length > maxPolicies)
    throw badInput(
      "body.chrome_policy",
      `holds ${String(names.length)} policies; at most ${String(maxPolicies)} are taken`,
      { limit: maxPolicies },
    );
  const odd = names.find((name) => !/^[A-Za-z]\w{0,199}$/.test(name));
  if (odd !== undefined)
    throw badInput("body.chrome_policy", `${JSON.stringify(odd.slice(0, 200))} is not a policy name`, {
      hint: "Names are Chrome's, such as URLBlocklist",
    });
  const own = names.filter((name) => ownPolicies.test(name));
  if (own.length > 0)
    throw badInput("body.chrome_policy", `${own.join(", ")} ${own.length === 1 ? "is" : "are"} the service's own`, {
      hint: "Use extensions, proxy and the other fields of the session for what they are about",
    });
  let sizeBytes = 1 + names.length;
  for (const [name, value] of Object.entries(policies)) {
    const text = JSON.stringify(value);
    if (unstorable.test(text))
      throw badInput("body.chrome_policy", `${name} holds a NUL character or half a character`);
    sizeBytes += name.length + 3 + Buffer.byteLength(text);
  }
  if (sizeBytes > maxPolicyBytes)
    throw badInput(
      "body.chrome_policy",
      `${String(sizeBytes)} bytes as JSON; at most ${String(maxPolicyBytes)} are taken`,
      { limit: maxPolicyBytes },
    );
}
