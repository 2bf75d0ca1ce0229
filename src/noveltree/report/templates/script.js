// Sort a table by the column whose heading is clicked; without scripts the page is the same but for this.
document.querySelectorAll("table.sortable").forEach((table) => {
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    while (heading.firstChild) button.append(heading.firstChild);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "descending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "ascending" : "descending");
      const body = table.tBodies[0];
      const value = (row) => {
        const cell = row.cells[column];
        return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
      };
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1; // what is missing comes last
        const sign = typeof x === "number" ? x - y : x.localeCompare(y);
        return down ? sign : -sign;
      };
      [...body.rows].sort(order).forEach((row) => body.append(row));
    });
  });
});
