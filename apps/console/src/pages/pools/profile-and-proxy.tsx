import { Group, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { resourceOptions } from "../../api/resource-options.ts";
import { useSignedIn } from "../../api/shoal.ts";

interface ProfileAndProxyProps {
  readonly text: (name: "profile" | "proxy_id") => object;
}

/** The profile and the proxy of new browsers. */
export function ProfileAndProxy({ text }: ProfileAndProxyProps) {
  const { shoal, project } = useSignedIn();
  const { data: profiles = [] } = useQuery(resourceOptions(shoal, project?.id, "profiles"));
  const { data: proxies = [] } = useQuery(resourceOptions(shoal, project?.id, "proxies"));
  return (
    <Group grow align="flex-start">
      <NativeSelect label="Profile" data={profiles} {...text("profile")} />
      <NativeSelect label="Proxy" data={proxies} {...text("proxy_id")} />
    </Group>
  );
}
