// Libraries of Vue: Element Plus, Vuetify.
import "element-plus/dist/index.css";
import "vuetify/styles";
import * as El from "element-plus";
import { createApp, h, ref } from "vue";
import { createVuetify } from "vuetify";
import * as V from "vuetify/components";
import { done, widgetName } from "./show.jsx";

const colours = ["Red", "Green", "Blue"];
const held = ref();
const model = (set = done) => ({
  modelValue: held.value,
  "onUpdate:modelValue": (value) => ((held.value = value), set(value)),
});

const widgets = {
  "el select": () =>
    h(El.ElSelect, { ...model(), ariaLabel: "Colour", placeholder: "Colour", style: "width:200px" }, () =>
      colours.map((value) => h(El.ElOption, { value, label: value })),
    ),
  "el date picker": () =>
    h(El.ElDatePicker, {
      ...model(),
      ariaLabel: "Arrival",
      placeholder: "Arrival",
      defaultValue: new Date(2027, 4, 10),
      valueFormat: "YYYY-MM-DD",
    }),
  "el checkbox": () => h(El.ElCheckbox, { ...model(), label: "Terms" }),
  "el switch": () => h(El.ElSwitch, { ...model(), ariaLabel: "Wifi" }),
  "el input number": () => h(El.ElInputNumber, { ...model(), ariaLabel: "Guests", modelValue: held.value ?? 3 }),
  "el tree": () =>
    h(El.ElTree, {
      data: [{ label: "Documents", children: [{ label: "Invoice" }] }],
      onNodeClick: (node) => done(node.label),
    }),
  "el cascader": () =>
    h(El.ElCascader, {
      ...model((v) => done(v.join("/"))),
      placeholder: "Place",
      options: [{ value: "Portugal", label: "Portugal", children: [{ value: "Lisbon", label: "Lisbon" }] }],
    }),
  "el rate": () => h(El.ElRate, { ...model() }),
  "el dropdown": () =>
    h(
      El.ElDropdown,
      { onCommand: done },
      {
        default: () => h(El.ElButton, () => "More"),
        dropdown: () =>
          h(El.ElDropdownMenu, () =>
            ["Copy", "Move"].map((command) => h(El.ElDropdownItem, { command }, () => command)),
          ),
      },
    ),
  "v select": () => h(V.VSelect, { ...model(), label: "Colour", items: colours }),
  "v autocomplete": () => h(V.VAutocomplete, { ...model(), label: "City", items: ["Lisbon", "London"] }),
  "v slider": () => h(V.VSlider, { ...model(), modelValue: held.value ?? 30, label: "Volume", step: 1 }),
  "v checkbox": () => h(V.VCheckbox, { ...model(), label: "Terms" }),
  "v menu": () =>
    h(
      V.VMenu,
      {},
      {
        activator: ({ props }) => h(V.VBtn, props, () => "Actions"),
        default: () =>
          h(V.VList, () => ["Print", "Share"].map((title) => h(V.VListItem, { title, onClick: () => done(title) }))),
      },
    ),
  "v chips": () =>
    h(V.VChipGroup, { ...model(), filter: true }, () =>
      ["Wifi", "Pool"].map((value) => h(V.VChip, { value }, () => value)),
    ),
  "v expansion panel": () =>
    h(V.VExpansionPanels, () =>
      h(
        V.VExpansionPanel,
        { title: "Shipping" },
        { text: () => h("button", { onClick: () => done("express") }, "Express") },
      ),
    ),
  "v otp": () => h(V.VOtpInput, { ...model(), length: 4 }),
};

createApp({ render: () => (widgetName.startsWith("v ") ? h(V.VApp, widgets[widgetName]) : widgets[widgetName]()) })
  .use(createVuetify())
  .mount("#root");
