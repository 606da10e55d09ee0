import type { DockerOptions, KubernetesOptions } from "@shoal/placement";
import type { Config } from "./settings.ts";

export function kubernetesOptions(config: Config): KubernetesOptions {
  return {
    image: config.kubernetes_image,
    namespace: config.kubernetes_namespace,
    runtimeClass: config.kubernetes_runtime_class,
    warmPool: config.kubernetes_warm_pool,
    serverPod: config.kubernetes_server_pod,
    kubeconfig: config.kubernetes_kubeconfig,
  };
}

export function dockerOptions(config: Config): DockerOptions {
  return { hosts: config.docker_host, image: config.docker_image, tlsDir: config.docker_tls_dir };
}
