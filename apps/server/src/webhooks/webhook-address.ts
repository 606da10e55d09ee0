import { invalidWebhookUrl } from "@shoal/contract/refusals";
import type { OutboundRule } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { LookupFunction } from "node:net";

/** Rules for the addresses of webhooks. */
export interface WebhookRules {
  /** Public addresses, and private hosts that the operator permits. */
  readonly allowed: OutboundRule;
  /** Public addresses. */
  readonly public: OutboundRule;
}

export type AddressDecision =
  { readonly allowed: true; readonly lookup: LookupFunction } | { readonly allowed: false; readonly problem: string };

const privateHint = "The operator can allow private hosts with allow_private_hosts.";

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

/** Checks an address without a lookup of its name. @throws {ServiceError} 400 naming the field. */
export async function checkWebhookUrl(text: string, { allowed, public: open }: WebhookRules): Promise<URL> {
  const url = URL.parse(text);
  if (url === null || url.hostname === "" || !/^https?:$/.test(url.protocol))
    throw ServiceError.of(invalidWebhookUrl("expected an https or http address", "Write https://example.com/hooks."));
  if (url.username !== "" || url.password !== "")
    throw ServiceError.of(
      invalidWebhookUrl(
        "must not contain a user name or password",
        "Receivers identify the service by the signature of each request.",
      ),
    );
  const problem = await allowed.literalProblem(url.hostname, portOf(url));
  if (problem !== undefined)
    throw ServiceError.of(invalidWebhookUrl(`expected a public address: ${problem}`, privateHint));
  const isAddress = /^(?:\d+\.){3}\d+$|^\[/.test(url.hostname);
  if (url.protocol === "http:" && isAddress && (await open.literalProblem(url.hostname, portOf(url))) === undefined)
    throw ServiceError.of(invalidWebhookUrl("http is for private hosts only", "Use https for a public address."));
  return url;
}

/** Decides before each request. The lookup pins the checked addresses, because a second one could return others. */
export async function decideAddress(url: URL, rules: WebhookRules): Promise<AddressDecision> {
  const decision = await rules.allowed.decide(url.hostname, portOf(url));
  if (!decision.allowed)
    return { allowed: false, problem: `Its address is not allowed: ${decision.because}. ${privateHint}` };
  if (url.protocol === "http:" && (await rules.public.decide(url.hostname, portOf(url))).allowed)
    return { allowed: false, problem: "Its address is public; use https. http is for private hosts only." };
  const { addresses } = decision;
  return {
    allowed: true,
    lookup: (_hostname, { all }, callback) => {
      if (all === true) callback(null, [...addresses]);
      else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
    },
  };
}
