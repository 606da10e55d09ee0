/** Why an operation or a request field of the newest client is not served. */
export type Gap = `refused: ${string}`;

const payment = "refused: it needs an agreement with a payment service or password manager";
const native = "refused: the key of the operator pays for them, and they go around the limits of a search";
const registry = "refused: it rests on the shared knowledge of a hosted service";

/** By the beginning of the path. */
export const operationGaps: Readonly<Record<string, Gap>> = {
  "/config-registry": registry,
  "/vault-provider-configs": payment,
};

/** By the path of the field, or its end, for one operation or all. A field with fields stands for all of them. */
export const fieldGaps: Readonly<Record<string, Gap>> = {
  "content.browser.browser_id":
    "refused: each page gets a separate browser, so that no tab of a running session navigates",
  "strategy.provider.options": native,
  "strategy.providers.options": native,
  "strategy.provider_options": native,
  ...Object.fromEntries(
    [
      "amount",
      "authorization",
      "access_token",
      "access_token_expires_at",
      "account",
      "card_id",
      "checkout_origin",
      "context",
      "currency",
      "integration_key",
      "line_items",
      "merchant",
      "merchant_category",
      "merchant_category_code",
      "merchant_country",
      "merchant_name",
      "merchant_url",
      "metadata",
      "payment_method_id",
      "provider_config",
      "recurring",
      "requests",
      "totals",
      "user_id",
      "wallet",
      "website",
    ].map((field) => [`spec.${field}`, payment] as const),
  ),
  "PATCH /vaults/{id_or_name}/items/{key} spec.provider": payment,
  video_memory: "refused: sessions have no GPU",
};
