import { checkPrivateHosts, type PlacementAbilities } from "@shoal/placement";
import { badInput, ServiceError } from "@shoal/router";
import { maxScreenPixels } from "@shoal/schemas/viewport-limits";
import type { RequestedOptions } from "./session-options.ts";

/** Size of all policies of a session as JSON, in bytes: the wire's limit. Bodies that take policies may have a MiB more. */
const maxPolicyBytes = 5 * 2 ** 20;
const maxPolicies = 1000;

/** What the service decides for its sessions: what may be installed, the way out, and that clients can drive the browser and find its downloads. */
const ownPolicies =
  /^(?:(?:Extension|Proxy|DeveloperTools|RemoteDebugging)\w*|HeadlessMode|UserDataDir|DiskCacheDir|DownloadDirectory|DefaultDownloadDirectory|BrowserSignin|CloudManagement\w*)$/;

const howToInstall =
  "Install one on the server (Debian: apt-get install chromium; or Google Chrome; or npx @puppeteer/browsers install chrome@stable) and start the service again";

/** @throws {ServiceError} 400 naming the field that this host, or no Chromium, can give a session. */
export function refuseUnable(body: RequestedOptions & { readonly gpu?: boolean | undefined }, abilities: PlacementAbilities): void {
  if (body.gpu === true)
    throw badInput("body.gpu: sessions of this service have no GPU, Chromium draws with the processor. Leave the field away, or send false");
  if (body.chrome_policy !== undefined) checkPolicies(body.chrome_policy, abilities);
  checkHosts(body.network?.private_hosts ?? [], abilities);
  if (body.headless === false) checkWindow(body.viewport, abilities);
  const needsFull = {
    headless: body.headless === false,
    stealth: body.stealth === true,
    chrome_policy: hasFields(body.chrome_policy),
    extensions: (body.extensions?.length ?? 0) > 0,
  };
  for (const [field, isAsked] of Object.entries(needsFull)) {
    if (isAsked && !abilities.fullChromium)
      throw badInput(`body.${field}: needs a full Chromium, and this server has only a headless shell. ${howToInstall}`);
  }
}

/** @throws {ServiceError} 400 where this host's sessions cannot trust the authority of the proxy that a request names. */
export function refuseAuthorities({ proxy }: { readonly proxy?: object | undefined }, abilities: PlacementAbilities): void {
  if (abilities.authorities) return;
  throw badInput(
    `body.${proxy === undefined ? "proxy_id" : "proxy"}: this proxy has certificates of its own (config.ca_bundle), which browsers of this server cannot be told of: that needs Linux and the program certutil. Install it on the server (Debian: apt-get install libnss3-tools; Fedora: nss-tools) and start the service again, or name a proxy without ca_bundle`,
  );
}

function checkHosts(hosts: readonly string[], abilities: PlacementAbilities): void {
  if (hosts.length === 0) return;
  const problem = checkPrivateHosts(hosts);
  if (problem !== undefined) throw badInput(`body.network.${problem}`);
  if (!abilities.privateHosts) {
    throw new ServiceError(
      403,
      "forbidden",
      "body.network.private_hosts: this service lets no session reach private hosts. Whoever runs it can allow some (allow_private_hosts); sessions then reach those of them that they name.",
    );
  }
}

function checkWindow(viewport: RequestedOptions["viewport"], abilities: PlacementAbilities): void {
  if (!abilities.windows)
    throw badInput(
      "body.headless: false needs the X server Xvfb, and this server has none. Install it (Debian: apt-get install xvfb) and start the service again, or leave the field away for a browser without a window",
    );
  for (const side of ["width", "height"] as const) {
    if (viewport !== undefined && viewport[side] > maxScreenPixels)
      throw badInput(`body.viewport.${side}: expected at most ${String(maxScreenPixels)} where the browser has a window`);
  }
}

/** What PostgreSQL cannot store, in JSON: there, NUL and halves of characters are the only escapes of this kind, and a backslash of a text is doubled. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

function hasFields(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length > 0;
}

/** @throws {ServiceError} 400. `{}` takes policies away, and is possible everywhere. */
export function checkPolicies(policies: Readonly<Record<string, unknown>>, abilities: PlacementAbilities): void {
  const names = Object.keys(policies);
  if (names.length === 0) return;
  if (!abilities.policies) {
    throw badInput(
      "body.chrome_policy: needs sessions that run in a sandbox: Chromium reads policies from a folder of the whole system, and here sessions are plain processes. Install bubblewrap (`shoal doctor` says what is missing), or leave the field away",
    );
  }
  if (names.length > maxPolicies)
    throw badInput(`body.chrome_policy: holds ${String(names.length)} policies; at most ${String(maxPolicies)} are taken`);
  const odd = names.find((name) => !/^[A-Za-z]\w{0,199}$/.test(name));
  if (odd !== undefined)
    throw badInput(`body.chrome_policy: ${JSON.stringify(odd.slice(0, 200))} is no name of a policy. Names are Chrome's, such as URLBlocklist`);
  const own = names.filter((name) => ownPolicies.test(name));
  if (own.length > 0)
    throw badInput(
      `body.chrome_policy: ${own.join(", ")} ${own.length === 1 ? "is" : "are"} the service's own. Use extensions, proxy and the other fields of the session for what they are about`,
    );
  // Braces, and what stands between the policies.
  let sizeBytes = 1 + names.length;
  for (const [name, value] of Object.entries(policies)) {
    const text = JSON.stringify(value);
    if (unstorable.test(text)) throw badInput(`body.chrome_policy: ${name} holds a NUL character or half a character`);
    sizeBytes += name.length + 3 + Buffer.byteLength(text);
  }
  if (sizeBytes > maxPolicyBytes)
    throw badInput(`body.chrome_policy: ${String(sizeBytes)} bytes as JSON; at most ${String(maxPolicyBytes)} are taken`);
}
