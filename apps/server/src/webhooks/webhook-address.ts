import { invalidWebhookUrl } from "@shoal/contract/refusals";
import type { OutboundRule } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { LookupFunction } from "node:net";

export type AddressDecision =
  { readonly allowed: true; readonly lookup: LookupFunction } | { readonly allowed: false; readonly problem: string };

const privateHint = "The operator can allow private hosts with allow_private_hosts.";

/** Checks an address without a lookup of its name. @throws {ServiceError} 400 naming the field. */
export async function checkWebhookUrl(text: string, rule: OutboundRule): Promise<URL> {
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
  const decision = await rule.decideLiteral(url, "private");
  if (decision.allowed) return url;
  throw ServiceError.of(
    decision.needsTls === true
      ? invalidWebhookUrl("http is for private hosts only", "Use https for a public address.")
      : invalidWebhookUrl(`expected a public address: ${decision.because}`, privateHint),
  );
}

/** Decides before each request. */
export async function decideAddress(url: URL, rule: OutboundRule): Promise<AddressDecision> {
  const decision = await rule.decide(url, "private");
  if (decision.allowed) return decision;
  return {
    allowed: false,
    problem:
      decision.needsTls === true
        ? "Its address is public; use https. http is for private hosts only."
        : `Its address is not allowed: ${decision.because}. ${privateHint}`,
  };
}
