import type { TypedSecrets } from "./typed-secrets.ts";

/** The address of the front page, whose path may repeat a secret. */
export function pageUrlOf(
  address: string | undefined,
  secrets: Pick<TypedSecrets, "inText">,
): { readonly page_url?: string } {
  return address === undefined ? {} : { page_url: secrets.inText(address) };
}
