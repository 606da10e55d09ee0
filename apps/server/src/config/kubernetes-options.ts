import type { KubernetesOptions } from "@shoal/placement";
import type { Config } from "./settings.ts";

export function kubernetesOptions(config: Config): KubernetesOptions {
  return {
    image: config.kubernetes_image,
    namespace: config.kubernetes_namespace,
    runtimeClass: config.kubernetes_runtime_class,
    kubeconfig: config.kubernetes_kubeconfig,
  };
}
