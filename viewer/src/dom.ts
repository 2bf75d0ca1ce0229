// Small helpers to make and find elements.

type Attributes = Record<string, string | number | boolean>;

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- whoever asks knows the element
export function find<Kind extends HTMLElement>(id: string): Kind {
  const element = document.getElementById(id);
  if (!element) throw new Error(`There is no #${id} on the page.`);
  return element as Kind;
}

/** A number as people read it. */
export function shown(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const rounded = Number(value.toPrecision(digits));
  return rounded.toLocaleString("en", { maximumFractionDigits: 6 }).replace("-", "−");
}
