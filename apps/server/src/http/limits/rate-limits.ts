import { ServiceError } from "@shoal/router";
import ipaddr from "ipaddr.js";
import { isIP } from "node:net";
import { type Allowance, createTokenBuckets } from "./token-buckets.ts";

/** Requests per minute, read at each request; 0 = no limit. */
export interface RateLimitRules {
  perKey: number;
  perOrganization: number;
  refusedPerAddress: number;
}

/** For the nearer limit; `reset` is the number of seconds until the limit is unused again. */
export type RateLimitHeaders = Readonly<
  Record<"x-ratelimit-limit" | "x-ratelimit-remaining" | "x-ratelimit-reset", string>
>;

export type Uses = ReadonlyMap<string, number>;

export interface RateLimits {
  /**
   * @param tell - receives the headers; not called without a limit. @throws {ServiceError} 429 `rate_limited`,
   * uncounted.
   */
  admit(keyId: string, tell: (headers: RateLimitHeaders) => void): void;
  /** @throws {ServiceError} 429 `rate_limited` after too many requests from this address without a valid key. */
  checkAddress(address: string): void;
  countRefused(address: string): void;
  /**
   * Returns the requests admitted or refused here since the last call, for the other servers; of many addresses, those
   * with the most requests.
   */
  takeUses(): Uses;
  charge(uses: Uses): void;
}

/** The subject of a key is `key:{id}`, and that of an address `address:{address}`. */
const organization = "organization";
const addressPrefix = "address:";
/** Subjects of one kind that are counted between two exchanges with the other servers. */
const maxCounted = 20_000;
/** In one exchange. Each one is a row of the database, and a /48 network has 65,536 of them. */
const maxAddressesReported = 500;

/** Returns the /64 network of an IPv6 address, because one host has all of its addresses. */
export function addressSubject(address: string): string {
  if (isIP(address) !== 6) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  return parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

const subjectOf = (address: string): string => `${addressPrefix}${addressSubject(address)}`;

export const isAddress = (subject: string): boolean => subject.startsWith(addressPrefix);

function count(uses: Map<string, number>, subject: string): void {
  const before = uses.get(subject);
  if (before !== undefined || uses.size < maxCounted) uses.set(subject, (before ?? 0) + 1);
}

function refusal({ limit, waitMs }: Allowance, whose: string, wayOut: string): ServiceError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ServiceError(
    429,
    "rate_limited",
    `${whose} may send ${String(limit)} requests a minute, and has sent them.`,
    { limit, hint: `Wait ${String(seconds)} s${wayOut}.`, retryAfterSeconds: seconds },
  );
}

export function createRateLimits(
  rules: Readonly<RateLimitRules>,
  now: () => number = () => performance.now(),
): RateLimits {
  const keys = createTokenBuckets(() => rules.perKey);
  const everybody = createTokenBuckets(() => rules.perOrganization);
  const addresses = createTokenBuckets(() => rules.refusedPerAddress);
  let uses = new Map<string, number>();
  // Separate, so that a flood of addresses does not crowd out the keys.
  let refused = new Map<string, number>();
  const bucketsOf = (subject: string) => (subject === organization ? everybody : isAddress(subject) ? addresses : keys);

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
        count(uses, subject);
      }
      if (all !== undefined) {
        everybody.take(organization, nowMs);
        count(uses, organization);
      }
    },
    checkAddress(address) {
      const left = addresses.look(subjectOf(address), now());
      if (left !== undefined && left.waitMs > 0) {
        throw new ServiceError(
          429,
          "rate_limited",
          `Too many requests without a valid API key from ${address}: more than ${String(left.limit)} a minute.`,
          {
            limit: left.limit,
            hint: "Send a valid key; keys that were used a moment ago still work.",
            retryAfterSeconds: Math.max(1, Math.ceil(left.waitMs / 1000)),
          },
        );
      }
    },
    countRefused(address) {
      if (rules.refusedPerAddress === 0) return;
      const subject = subjectOf(address);
      addresses.take(subject, now());
      count(refused, subject);
    },
    takeUses() {
      const busiest = [...refused].sort(([, one], [, other]) => other - one).slice(0, maxAddressesReported);
      const taken = new Map([...uses, ...busiest]);
      uses = new Map();
      refused = new Map();
      return taken;
    },
    charge(others) {
      const nowMs = now();
      for (const [subject, tokens] of others) bucketsOf(subject).charge(subject, tokens, nowMs);
    },
  };
}
