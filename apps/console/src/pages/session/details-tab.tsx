import { Stack } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { Columns } from "../../parts/detail/columns.tsx";
import { KeptCard } from "./life/kept-card.tsx";
import { LifeCard } from "./life/life-card.tsx";
import { SettingsCard } from "./settings/settings-card.tsx";

export function DetailsTab({ browser }: { readonly browser: Browser }) {
  return (
    <Columns>
      <SettingsCard browser={browser} />
      <Stack gap="lg">
        <LifeCard browser={browser} />
        {browser.deleted_at !== undefined && <KeptCard browser={browser} />}
      </Stack>
    </Columns>
  );
}
