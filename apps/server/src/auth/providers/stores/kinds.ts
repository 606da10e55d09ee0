import type { CredentialProviderKind } from "../interface/credential-provider.ts";
import { awsSecretsManager } from "./aws-secrets-manager.ts";
import { bitwarden } from "./bitwarden.ts";
import { doppler } from "./doppler.ts";
import { googleSecretManager } from "./google-secret-manager.ts";
import { infisical } from "./infisical.ts";
import { onepasswordConnect } from "./onepassword-connect.ts";
import { onepassword } from "./onepassword.ts";
import { openbao, vault } from "./vault.ts";

/** The kinds that the service brings along. */
export const ownKinds: readonly CredentialProviderKind[] = [
  onepassword,
  onepasswordConnect,
  bitwarden,
  vault,
  openbao,
  infisical,
  doppler,
  awsSecretsManager,
  googleSecretManager,
];
