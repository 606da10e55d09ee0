import { ServiceError } from "@shoal/router";
import { isIP } from "node:net";
import { type Allowance, createTokenBuckets } from "./token-buckets.ts";

/** Requests a minute; 0 = no limit. Read at each request, so that they can change while the service runs. */
export interface RateLimitRules {
  perKey: number;
  perOrganization: number;
  /** Tries without a valid key, of one address. */
  refusedPerAddress: number;
}

/** What an answer tells of the limit that is nearer; `reset` in whole seconds until all of it is there again. */
export type RateLimitHeaders = Readonly<Record<"x-ratelimit-limit" | "x-ratelimit-remaining" | "x-ratelimit-reset", string>>;

/** Requests that were let through, by subject. */
export type Uses = ReadonlyMap<string, number>;

/** How many requests a key, the organisation and an address without a key may send. */
export interface RateLimits {
  /**
   * Counts a request with a valid key.
   *
   * @param tell - is given the headers of the answer, whether or not it is refused; not called where there is no limit.
   * @throws {ServiceError} 429 `rate_limited`; the request is not counted then.
   */
  admit(keyId: string, tell: (headers: RateLimitHeaders) => void): void;
  /** Whether an address has tried too often without a valid key. @throws {ServiceError} 429 `rate_limited`. */
  checkAddress(address: string): void;
  /** Counts a try without a valid key. */
  countRefused(address: string): void;
  /** What was let through here since the last call, for the other servers. */
  takeUses(): Uses;
  /** Counts what other servers have let through. */
  charge(uses: Uses): void;
}

/** The subject of the whole organisation; keys are `key:{id}`. */
const organization = "organization";

/** An IPv6 address counts as its network of 64 bits, of which one host has all. */
export function addressSubject(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail = ""] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const groups = address.includes("::") ? [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right] : left;
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

function refusal({ limit, waitMs }: Allowance, whose: string, wayOut: string): ServiceError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ServiceError(
    429,
    "rate_limited",
    `${whose} may send ${String(limit)} requests a minute, and has sent them. Wait ${String(seconds)} s${wayOut}.`,
    { retryAfterSeconds: seconds },
  );
}

export function createRateLimits(rules: Readonly<RateLimitRules>, now: () => number = () => performance.now()): RateLimits {
  const keys = createTokenBuckets(() => rules.perKey);
  const everybody = createTokenBuckets(() => rules.perOrganization);
  const addresses = createTokenBuckets(() => rules.refusedPerAddress);
  let uses = new Map<string, number>();
  const count = (subject: string) => uses.set(subject, (uses.get(subject) ?? 0) + 1);

  return {
    admit(keyId, tell) {
      if (rules.perKey === 0 && rules.perOrganization === 0) return;
      const nowMs = now();
      const subject = `key:${keyId}`;
      const own = keys.look(subject, nowMs);
      const all = everybody.look(organization, nowMs);
      const refused = own !== undefined && own.waitMs > 0 ? own : all !== undefined && all.waitMs > 0 ? all : undefined;
      const nearer = refused ?? (own === undefined || (all !== undefined && all.remaining < own.remaining) ? all : own);
      if (nearer !== undefined) {
        tell({
          "x-ratelimit-limit": String(nearer.limit),
          "x-ratelimit-remaining": String(Math.max(0, nearer.remaining - (refused === undefined ? 1 : 0))),
          "x-ratelimit-reset": String(Math.ceil(nearer.resetMs / 1000)),
        });
      }
      if (refused !== undefined)
        throw refusal(
          refused,
          refused === own ? "This API key" : "The organisation",
          "; the operator sets the limit with rate_limit_per_key and rate_limit_per_organization",
        );
      if (own !== undefined) {
        keys.take(subject, nowMs);
        count(subject);
      }
      if (all !== undefined) {
        everybody.take(organization, nowMs);
        count(organization);
      }
    },
    checkAddress(address) {
      const left = addresses.look(addressSubject(address), now());
      if (left !== undefined && left.waitMs > 0) {
        throw new ServiceError(
          429,
          "rate_limited",
          `There were too many tries without a valid API key from ${address}: more than ${String(left.limit)} a minute. Send a valid key; keys that were used a moment ago still work.`,
          { retryAfterSeconds: Math.max(1, Math.ceil(left.waitMs / 1000)) },
        );
      }
    },
    countRefused(address) {
      addresses.take(addressSubject(address), now());
    },
    takeUses() {
      const taken = uses;
      uses = new Map();
      return taken;
    },
    charge(others) {
      const nowMs = now();
      for (const [subject, tokens] of others) (subject === organization ? everybody : keys).charge(subject, tokens, nowMs);
    },
  };
}
