// Elements of our own, for document.createElement and h().
interface HTMLElementTagNameMap {
  "lab-board": import("../src/lab2048/views/web/static/js/board.js").LabBoard;
}
