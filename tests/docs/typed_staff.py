"""The example of docs/reference/joedbc.md: tests/python_types.py runs it, and mypy reads it."""
import staff

with staff.open("staff.joedb") as db:
    ada = db.person.insert(name="Ada", age=37)
    ada.age += 1
    print(db.person.age.mean(), [person.name for person in db.person.where(age=38)])
