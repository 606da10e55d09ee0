import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { signInLinkHandlers } from "./handlers.ts";
import { type SignInLinkParts, SignInLinks } from "./sign-in-links.ts";

export function signInLinksFeature(
  { database, secrets }: Host,
  needs: Pick<SignInLinkParts, "issuingKeys" | "projects">,
) {
  const links = new SignInLinks({ ...needs, database, secrets });
  return { provides: links, openHandlers: signInLinkHandlers(links) } satisfies Feature;
}
