const untrusted =
  /SELF_SIGNED_CERT|UNABLE_TO_(?:GET|VERIFY)|CERT_(?:HAS_EXPIRED|UNTRUSTED)|self[- ]signed certificate|unable to (?:get|verify)[\w ]* certificate|CERTIFICATE_VERIFY_FAILED/i;
const unreachable =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b|\b50[234] [BSG]\w+ [GUT]|- 50[234]\b/;

/**
 * Returns what the operator can do about a request that failed, or an empty text for other failures.
 * @param output - of a package manager, or the cause of a failed `fetch`
 * @param setting - of the service, for the address of the registry
 */
export function nextStep(output: string, setting: "build_registry" | "build_python_index" = "build_registry"): string {
  if (untrusted.test(output))
    return "Builds do not trust the authority of this certificate: ask the operator to start the service with --build-registry-ca FILE, or to set cafile in npm's settings.";
  if (unreachable.test(output))
    return `Builds do not reach the registry: ask the operator to start the service with ${flags[setting]}, the address of a registry that it reaches, or with --egress-proxy URL, the proxy to the internet.`;
  return "";
}

const flags = { build_registry: "--build-registry URL", build_python_index: "--build-python-index URL" } as const;
