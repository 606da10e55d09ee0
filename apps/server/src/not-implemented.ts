import type { Contract, contract } from "@shoal/contract";

/** Operations that the service answers itself, to those who have a key. */
export type KeyedPlane<C extends Contract> = {
  readonly [
    Name in keyof C as C[Name] extends { readonly plane: "control" } ? (C[Name] extends { readonly auth: "none" } ? never : Name) : never
  ]: C[Name];
};

/** Operations that need no key, but for the document, which is served as bytes. */
export type OpenPlane<C extends Contract> = {
  readonly [
    Name in keyof C as C[Name] extends { readonly auth: "none"; readonly path: infer Path } ? (Path extends "/openapi.json" ? never : Name) : never
  ]: C[Name];
};

/**
 * Operations of the control plane that have no handler yet, sorted: they answer 501, those that need a key only to somebody who has one. An operation that
 * stands neither here nor among the handlers is a compile error of app.ts, and so is one that stands in both.
 */
export const notImplemented = [
  "createAuthConnection",
  "createCredential",
  "createCredentialProvider",
  "createDeployment",
  "createInvocation",
  "deleteAuthConnection",
  "deleteCredential",
  "deleteCredentialProvider",
  "deleteDeployment",
  "deleteInvocationBrowsers",
  "exchangeHandoff",
  "followDeployment",
  "followInvocation",
  "followLogin",
  "getAuthConnection",
  "getCredential",
  "getCredentialProvider",
  "getDeployment",
  "getInvocation",
  "getTotpCode",
  "listApps",
  "listAuthConnections",
  "listCredentialProviderItems",
  "listCredentialProviders",
  "listCredentials",
  "listDeployments",
  "listInvocationBrowsers",
  "listInvocations",
  "listTimeline",
  "startLogin",
  "submitLogin",
  "testCredentialProvider",
  "updateAuthConnection",
  "updateCredential",
  "updateCredentialProvider",
  "updateInvocation",
] as const satisfies readonly (keyof KeyedPlane<typeof contract> | keyof OpenPlane<typeof contract>)[];

/** Name of an operation of {@link notImplemented}. */
export type NotImplemented = (typeof notImplemented)[number];
