// The pages are whole without this: it only puts the right address into the examples, copies them, and finds operations.
for (const example of document.querySelectorAll("pre.curl")) {
  example.textContent = example.textContent.replace("http://localhost:4010", location.origin);
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.addEventListener("click", () => void navigator.clipboard.writeText(example.textContent));
  example.after(button);
}

const field = document.querySelector("#find");
field?.addEventListener("input", () => {
  const wanted = field.value.trim().toLowerCase();
  for (const article of document.querySelectorAll("article")) {
    const isWanted = article.textContent.toLowerCase().includes(wanted);
    article.hidden = !isWanted;
    const entry = document.querySelector(`nav a[href="#${article.id}"]`);
    if (entry) entry.parentElement.hidden = !isWanted;
  }
});
