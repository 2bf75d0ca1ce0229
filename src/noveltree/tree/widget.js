// A lookahead in a notebook: point at a node, select it, walk with the arrow keys, zoom and move. It stands alone.
for (const widget of document.querySelectorAll(".nt-widget:not([data-ready])")) {
  widget.dataset.ready = "";
  const svg = widget.querySelector("svg");
  const about = widget.querySelector("[data-about]");
  const path = svg.querySelector("[data-path]");
  const ring = svg.querySelector("[data-ring]");
  const marks = new Map([...svg.querySelectorAll("[data-node]")].map((mark) => [Number(mark.dataset.node), mark]));
  const nodes = JSON.parse(widget.querySelector("[data-nodes]").textContent);
  const actions = JSON.parse(widget.dataset.actions);
  const nothing = about.textContent;
  let selected = null;

  const pathTo = (i) => {
    const all = [];
    for (let at = i; at >= 0; at = nodes[at].parent) all.unshift(at);
    return all;
  };
  const show = (i) => {
    for (const part of [path, ring]) part.style.display = i === null ? "none" : "";
    if (i === null) {
      about.textContent = nothing;
      return;
    }
    const along = pathTo(i);
    const node = nodes[i];
    path.setAttribute("d", along.slice(1).map((at) => nodes[at].edge).join(""));
    ring.setAttribute("cx", node.x);
    ring.setAttribute("cy", node.y);
    const taken = along.slice(1).map((at) => actions[nodes[at].action]).join(" → ");
    const collected = along.slice(1).reduce((sum, at) => sum + nodes[at].reward, 0);
    const facts = [
      `node ${node.number}, depth ${along.length - 1}: ${node.status}`,
      taken || "the root",
      `reward ${node.reward}, collected ${collected}, V ${node.value}` + (node.cost === null ? "" : `, V^T ${node.cost}`),
    ];
    if (node.policy) facts.push(`π_b ${actions.map((name, a) => `${name} ${node.policy[a]}`).join(", ")}`);
    about.textContent = facts.join("\n");
  };
  const select = (i) => {
    selected = i;
    show(i);
    if (i !== null) marks.get(i).scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const at = (event) => {
    const mark = event.target.closest?.("[data-node]");
    return mark ? Number(mark.dataset.node) : null;
  };
  svg.addEventListener("pointerover", (event) => show(at(event) ?? selected));
  svg.addEventListener("pointerleave", () => show(selected));
  svg.addEventListener("click", (event) => select(at(event)));
  /** The next node at the same depth, above or below. */
  const near = (way) => {
    const { x, y } = nodes[selected];
    let best = -1;
    nodes.forEach((node, i) => {
      const away = (node.y - y) * way;
      if (node.x === x && away > 0 && (best < 0 || away < (nodes[best].y - y) * way)) best = i;
    });
    return best;
  };
  svg.addEventListener("keydown", (event) => {
    const to = {
      ArrowLeft: () => nodes[selected].parent,
      ArrowRight: () => nodes.findIndex((node) => node.parent === selected),
      ArrowUp: () => near(-1),
      ArrowDown: () => near(1),
      Escape: () => null,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has keys of its own
    const next = selected === null ? 0 : to();
    if (next === null || next >= 0) select(next);
  });
  let size = 1;
  const wide = svg.width.baseVal.value;
  const high = svg.height.baseVal.value;
  svg.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
      event.preventDefault();
      size = Math.max(0.2, Math.min(6, size * Math.exp(-event.deltaY * 0.002)));
      svg.setAttribute("width", wide * size);
      svg.setAttribute("height", high * size);
    },
    { passive: false },
  );
}
