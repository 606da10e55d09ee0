import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";

export const passkeyBinding = "shoalPasskey";

/** Runs before the page's scripts, which then cannot see the binding. */
const script = `(() => {
  const tell = globalThis.${passkeyBinding};
  delete globalThis.${passkeyBinding};
  const container = globalThis.CredentialsContainer?.prototype;
  if (!tell || !container) return;
  container.get = new Proxy(container.get, {
    apply(get, self, values) {
      try {
        if (values[0]?.publicKey) tell(String(values[0].mediation ?? "optional"));
      } catch {}
      return Reflect.apply(get, self, values);
    },
  });
})()`;

/**
 * Reports calls of `navigator.credentials.get`. An empty authenticator makes them fail within milliseconds; without
 * one they never end.
 */
export async function watchPasskeys(cdp: CdpConnection, sessionId: string, isPage: boolean): Promise<void> {
  await Promise.all([
    // Without it, later documents lack the binding.
    cdp.send("Runtime.enable", undefined, sessionId),
    cdp.send("Runtime.addBinding", { name: passkeyBinding }, sessionId),
    cdp.send("Page.addScriptToEvaluateOnNewDocument", { source: script, runImmediately: true }, sessionId),
    ...(isPage ? [addAuthenticator(cdp, sessionId)] : []),
  ]);
}

async function addAuthenticator(cdp: CdpConnection, sessionId: string): Promise<void> {
  await cdp.send("WebAuthn.enable", {}, sessionId);
  await cdp.send(
    "WebAuthn.addVirtualAuthenticator",
    {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    },
    sessionId,
  );
}
