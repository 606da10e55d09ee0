import { ServiceError } from "@shoal/router";
import type { CreateProxy } from "@shoal/schemas";
import { toCustomProxy } from "../kit/proxy-address.ts";
import type { CreateSession, ProxyRule } from "./shapes.ts";

type Exit = Exclude<ProxyRule, { readonly type: "none" }>;

function invalid(field: string, problem: string, hint?: string): ServiceError {
  return new ServiceError(400, "bad_request", problem, { field: `body.proxies${field}`, hint });
}

/**
 * Translates the rules into one proxy with hosts that are reached without it: these are what sessions have.
 * @throws {ServiceError} 400 for rules that would send traffic another way than asked.
 */
export function toProxy(proxies: CreateSession["proxies"]): CreateProxy | undefined {
  if (proxies === undefined || proxies === false) return undefined;
  const rules: readonly ProxyRule[] = proxies === true ? [{ type: "browserbase" }] : proxies;
  const exits: { readonly rule: Exit; readonly field: string }[] = [];
  const bypassHosts: string[] = [];
  for (const [index, rule] of rules.entries()) {
    const field = `[${String(index)}]`;
    if (rule.type !== "none") exits.push({ rule, field });
    else if (rule.domainPattern !== undefined) bypassHosts.push(...hostsOf(rule.domainPattern, field));
    // The rules are read in order, and this one is for every other address.
    else if (index < rules.length - 1 || exits.length > 0)
      throw invalid(
        field,
        "without domainPattern it excludes every address",
        "Leave the other rules out, or this one.",
      );
  }
  const [first, second] = exits;
  if (first === undefined) return undefined;
  if (second !== undefined)
    throw invalid(second.field, "a session has one proxy", "Create one session for each, or leave the others out.");
  if (first.rule.domainPattern !== undefined)
    throw invalid(
      `${first.field}.domainPattern`,
      "a proxy serves every address of the session",
      'Name the other addresses with {"type":"none","domainPattern":"example.com"}.',
    );
  const bypass = bypassHosts.length === 0 ? {} : { bypass_hosts: bypassHosts };
  return first.rule.type === "external"
    ? { ...toCustomProxy(first.rule, `proxies${first.field}.server`), ...bypass }
    : { type: "residential", ...(first.rule.geolocation && { config: placeOf(first.rule.geolocation) }), ...bypass };
}

function placeOf({ city, country, state }: { country: string; state?: string | undefined; city?: string | undefined }) {
  return {
    country,
    ...(state !== undefined && { state }),
    ...(city !== undefined && { city: city.replaceAll(" ", "") }),
  };
}

/** A pattern is a regular expression at the vendor. Of these, names of hosts are possible. */
function hostsOf(pattern: string, field: string): readonly string[] {
  const [, name] = /^\^?(?:\*\.|\.\*\\?\.|\(\.\*\\?\.\)\?)?((?:[\w-]+\\?\.)+[\w-]+)\$?$/.exec(pattern) ?? [];
  if (name === undefined)
    throw invalid(`${field}.domainPattern`, "only names of hosts are possible", "Write it as example.com.");
  const host = name.replaceAll("\\", "");
  return [host, `*.${host}`];
}
