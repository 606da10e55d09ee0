import { checked } from "@shoal/schemas";
import * as z from "zod/mini";
import { isRoleRule } from "../role-rules.ts";
import { integer, optionalSetting, setting, text } from "./setting.ts";

const issuer = text.check(
  z.refine(
    (value) =>
      URL.canParse(value) &&
      (new URL(value).protocol === "https:" ||
        /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/.test(value)),
    "must be an https:// address, or http:// on this machine",
  ),
);

const rule = text.check(
  z.refine(
    isRoleRule,
    "must be rules such as groups=engineers:*:operator (claim=value:project:role; viewer, operator or admin)",
  ),
);

export const people = {
  oidc_issuer: optionalSetting({
    schema: issuer,
    summary: "OpenID Connect provider with which persons sign in to the console, and OAuth clients to /mcp.",
    default: "none, sign-in with API keys only",
  }),
  oidc_client_id: optionalSetting({
    schema: text,
    summary: "Client id of the service at that provider. Its redirect URI is PUBLIC_URL/console/oidc/callback.",
    default: "none",
  }),
  oidc_client_secret: optionalSetting({
    schema: text,
    summary: "Secret of that client.",
    default: "none, a public client",
    secret: true,
  }),
  oidc_label: setting({
    schema: checked(text, z.maxLength(100)),
    summary: "Label of the button that signs in with the provider.",
    fallback: "Single sign-on",
  }),
  oidc_scopes: setting({
    schema: checked(z.array(text), z.maxLength(50)),
    summary: "Scopes to request. With offline_access, most providers issue a refresh token.",
    fallback: ["openid", "profile", "email"],
    default: "openid,profile,email",
  }),
  oidc_roles: setting({
    schema: checked(z.array(rule), z.maxLength(1000)),
    summary:
      "Roles of persons, as claim=value:project:role. The project is an id, a name, or * for all; the role viewer, operator or admin; the value * accepts any. Persons without a role cannot sign in.",
    fallback: [],
    default: "none",
  }),
  oidc_check_minutes: setting({
    schema: integer(1, 720),
    summary:
      "How often the provider must confirm a person, 1 to 720 minutes. Sessions of deactivated persons end after this time at the latest.",
    fallback: 15,
  }),
};
