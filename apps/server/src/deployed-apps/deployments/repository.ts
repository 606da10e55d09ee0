import { repositoryExpected } from "@shoal/contract/refusals";
import type { OutboundRule } from "@shoal/placement";
import { messageOf, pathSegments } from "@shoal/primitives";
import type { IncomingMessage } from "node:http";
import { requestVia } from "../../host/guarded-request.ts";
import { BuildError } from "../runtime/app-runtime.ts";

export interface RepositorySource {
  readonly url: string;
  readonly ref: string;
  readonly token: string | undefined;
}

/** Completes `source.ref: …`. */
export const refExpected =
  "must be a branch, tag or commit, without empty parts, . or .. between slashes, and without backslashes";

const maxRedirects = 3;
const answerTimeoutMs = 30_000;

/** `https://github.com/owner/name`, with or without `.git`. */
function partsOf(
  address: string,
): { readonly host: string; readonly owner: string; readonly name: string } | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  if (/[\\%]|\/\.{1,2}(?:\/|$)/.test(address)) return undefined;
  const parts = /^\/([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(url.pathname);
  const [, owner = "", name = ""] = parts ?? [];
  return owner === "" || /^\.+$/.test(owner) || /^\.+$/.test(name) ? undefined : { host: url.hostname, owner, name };
}

/** Git itself allows fewer names. */
export function isRef(ref: string): boolean {
  return pathSegments(ref) !== undefined;
}

export function isRepository(address: string): boolean {
  return partsOf(address) !== undefined;
}

/** Downloads by GitHub's API, which also answers for private repositories and GitHub Enterprise. */
export class RepositoryArchives {
  readonly #apiUrl: string;
  readonly #hosts: ReadonlySet<string>;
  readonly #rule: OutboundRule;

  constructor(apiUrl: string, rule: OutboundRule) {
    this.#apiUrl = apiUrl.replace(/(?<!\/)\/+$/, "");
    this.#hosts = new Set(["github.com", new URL(apiUrl).hostname.replace(/^api\./, "")]);
    this.#rule = rule;
  }

  /** @returns a ZIP archive with one top folder. @throws {BuildError} */
  async open({ ref, token, url: address }: RepositorySource, signal: AbortSignal): Promise<IncomingMessage> {
    const parts = partsOf(address);
    if (parts === undefined) throw new BuildError(`source.url: ${repositoryExpected().problem}`);
    if (!this.#hosts.has(parts.host))
      throw new BuildError(
        `source.url: this service fetches from ${[...this.#hosts].join(" and ")}, not ${parts.host}.`,
      );
    const path = pathSegments(ref);
    if (path === undefined) throw new BuildError(`source.ref: ${refExpected}`);
    const first = new URL(`${this.#apiUrl}/repos/${parts.owner}/${parts.name}/zipball/${path}`);
    let url = first;
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      // GitHub signs the address that it redirects to; other hosts must not get the token.
      const answer = await this.#get(url, url.origin === first.origin ? token : undefined, signal);
      const { statusCode = 0 } = answer;
      if (statusCode === 200) return answer;
      answer.destroy();
      const next = statusCode >= 300 && statusCode < 400 ? URL.parse(answer.headers.location ?? "", url) : null;
      if (next === null) throw refusal(statusCode, { address, ref, hasToken: token !== undefined });
      url = next;
    }
    throw new BuildError(`The host of ${address} redirected more than ${String(maxRedirects)} times.`);
  }

  async #get(url: URL, token: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    if (!/^https?:$/.test(url.protocol)) throw new BuildError(`Cannot fetch sources from a ${url.protocol} address.`);
    const decision = await this.#rule.decide(url);
    if (!decision.allowed) throw new BuildError(`Sources cannot be fetched from ${url.hostname}: ${decision.because}.`);
    try {
      return await requestVia(decision.lookup, url, {
        signal,
        silenceMs: answerTimeoutMs,
        headers: {
          accept: "application/vnd.github+json",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new BuildError(`${url.hostname} cannot be reached: ${messageOf(error)}.`, { cause: error });
    }
  }
}

function refusal(
  status: number,
  { address, hasToken, ref }: { readonly address: string; readonly ref: string; readonly hasToken: boolean },
): BuildError {
  if (status === 404)
    return new BuildError(
      `${address} has no branch, tag or commit ${JSON.stringify(ref)}, or the repository does not exist. ${hasToken ? "Check that the token of source.auth may read it." : "A private repository needs source.auth."}`,
    );
  if (status === 401 || status === 403)
    return new BuildError(
      `Access to ${address} was refused (${String(status)}). ${hasToken ? "Check the token of source.auth: it may have expired, or may not read this repository." : "A private repository needs source.auth."}`,
    );
  return new BuildError(`The host of ${address} answered with status ${String(status)}. Deploy again later.`);
}
