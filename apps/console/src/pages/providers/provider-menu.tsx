import type { CredentialProvider } from "@shoal/schemas";
import { FlaskConical, List, Pause, Play } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { tell, tellFailure } from "../../parts/notices.ts";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";

interface ProviderMenuProps {
  readonly provider: CredentialProvider;
  readonly showItems: (provider: CredentialProvider) => void;
}

const changes = [["providers"]];

export function ProviderMenu({ provider, provider: { id, name, enabled }, showItems }: ProviderMenuProps) {
  const { credentialProviders } = useSignedIn().shoal;
  const test = useAction({
    act: () => credentialProviders.test(id),
    done: ({ success, vaults, error }) => {
      if (success) tell(`${name} answered: ${vaults.map((vault) => vault.name).join(", ") || "no vaults"}.`);
      else tellFailure(new Error(error ?? `${name} refused the token.`));
    },
    changes: [],
  });
  const change = useAction({ act: () => credentialProviders.update(id, { enabled: !enabled }), changes });
  const deletion = useDeletion({
    kind: "provider",
    name,
    text: "Its token is deleted. Connections that use it ask a person at their next login.",
    act: () => credentialProviders.delete(id),
    changes,
  });
  return (
    <RowMenu
      label={`Actions for provider ${name}`}
      actions={[
        { label: "Test", icon: FlaskConical, run: test.mutate },
        {
          label: "Show its items",
          icon: List,
          run: () => {
            showItems(provider);
          },
        },
        { label: enabled ? "Disable" : "Enable", icon: enabled ? Pause : Play, run: change.mutate },
        deletion,
      ]}
    />
  );
}
